#include "base/replace_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace muster {
namespace replace_file_test {

class ReplaceFile : public testing::Test {
 protected:
  ReplaceFile() {
    std::string name = (std::filesystem::temp_directory_path() / "replace-file-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    file_ = folder_ / "note";
  }
  ~ReplaceFile() override { std::filesystem::remove_all(folder_); }

  std::string text() const {
    std::ostringstream out;
    out << std::ifstream(file_).rdbuf();
    return std::move(out).str();
  }

  std::filesystem::path folder_;
  std::filesystem::path file_;
};

TEST_F(ReplaceFile, TheNewTextIsAllThereIs) {
  ASSERT_TRUE(replace_file(file_, "a long first text"));
  ASSERT_TRUE(replace_file(file_, "short"));
  EXPECT_EQ(text(), "short");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "note.new"));
}

TEST_F(ReplaceFile, OnlyItsOwnerReadsIt) {
  ASSERT_TRUE(replace_file(file_, "x"));
  struct stat status{};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(ReplaceFile, ADraftThatCannotBeMadeLeavesTheOldText) {
  ASSERT_TRUE(replace_file(file_, "old"));
  std::filesystem::create_directory(folder_ / "note.new");
  const Status written = replace_file(file_, "new");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "writing " + file_.string() + ": Is a directory");
  EXPECT_EQ(text(), "old");
}

}  // namespace replace_file_test
}  // namespace muster
