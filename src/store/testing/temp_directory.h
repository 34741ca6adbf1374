// A directory that lives as long as the test; in memory where the system has such a place, because
// what matters here is below SQLite's virtual file system, and the rest need not wait for a disk.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace muster::store::testing {

class TempDirectory {
 public:
  TempDirectory() {
    const bool memory = access("/dev/shm", W_OK) == 0;
    path_ = (memory ? std::string("/dev/shm") : std::filesystem::temp_directory_path().string()) +
            "/muster-test-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~TempDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace muster::store::testing
