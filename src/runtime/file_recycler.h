// Emptied files, kept for new ones: file systems that keep the numbers of deleted files from being
// used again for a while (ext4 without a journal) need ever longer to find one for a new file.
#pragma once

#include <cstddef>
#include <string>

namespace muster::runtime {

class FileRecycler {
 public:
  explicit FileRecycler(std::string folder);  // with those of an earlier life
  void keep(const std::string& file);         // one in the folder; removed if others have it open
  void use_for(const std::string& file);      // likewise, before it is made

 private:
  static constexpr std::size_t kMost = 64;  // as many as come and go at the same time, mostly
  std::string name(std::size_t number) const;
  const std::string folder_;
  std::size_t count_ = 0;
};

}  // namespace muster::runtime
