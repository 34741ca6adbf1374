// For tests only: a folder of one's own that is gone afterwards, and short words for files.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "base/contained_path.h"

namespace muster::agent {

class Scratch {
 public:
  Scratch() {
    std::string pattern = testing::TempDir() + "musterXXXXXX";
    path_ = std::filesystem::canonical(::mkdtemp(pattern.data()));
  }
  ~Scratch() {
    const UniqueFd parent = *open_folder(path_.parent_path());
    EXPECT_TRUE(remove_beneath(parent.get(), path_.filename()));
  }
  std::string operator/(std::string_view name) const { return path_ / name; }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) return "no file";
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void write_file(const std::string& path, std::string_view text) {
  std::ofstream(path) << text;
}

inline unsigned mode_of(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

inline std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename());
  return names;
}

}  // namespace muster::agent
