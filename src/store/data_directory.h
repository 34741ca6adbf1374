// The directory that a server keeps its data in: who may see it, and that only one process uses it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::store {

// Where the objects of a data directory are.
inline std::string database_file(const std::string& directory) { return directory + "/muster.db"; }

// Where a file is made before it gets its name: what lies there is not finished.
inline std::string partial_file(const std::string& file) { return file + ".part"; }

class DataDirectory {
 public:
  // The file `lock` says which process has the directory, but anybody can remove it. The folder
  // itself cannot be removed while there is data in it, so it is locked as well.
  enum class Folder : std::uint8_t {
    kLock,
    kHeldByCaller,  // who made it has locked it already (engine/run_directory.h)
  };
  // Makes the directory if need be (mode 0700) and locks it until this object is destroyed, or the
  // process ends in whatever way. Fails if another process has it (naming that), or if other users
  // could read it.
  static Result<DataDirectory> lock(const std::string& path, Folder folder = Folder::kLock);
  const std::string& path() const { return path_; }
  std::string database_file() const { return store::database_file(path_); }

  // Whether a database was ever completed here. If so, an empty one is not new but lost.
  bool initialized() const;
  Status mark_initialized();

 private:
  DataDirectory(std::string path, UniqueFd folder, UniqueFd file)
      : path_(std::move(path)), folder_(std::move(folder)), file_(std::move(file)) {}
  std::string path_;
  UniqueFd folder_;
  UniqueFd file_;
};

// Makes sure that a file, or the names in a directory, are on disk.
Status sync_path(const std::string& path);
// Creates an empty file that only its owner may read. Fails if there is one.
Status create_private_file(const std::string& path);
// Also makes the new name durable.
Status rename_durably(const std::string& from, const std::string& to);

}  // namespace muster::store
