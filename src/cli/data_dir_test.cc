#include "cli/data_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "store/testing/temp_directory.h"

namespace muster::cli {
namespace {

struct stat look(const std::string& file) {
  struct stat info{};
  EXPECT_EQ(::stat(file.c_str(), &info), 0) << file;
  return info;
}

TEST(WritePrivateFile, ReplacesWhatIsThere) {
  const store::testing::TempDirectory dir;
  const std::string file = dir / "kubeconfig";
  ASSERT_TRUE(write_private_file(file, "one"));
  ASSERT_TRUE(write_private_file(file, "two"));
  EXPECT_EQ(read_file(file).value(), "two");
  EXPECT_EQ(look(file).st_mode & 0777, 0600U);
  EXPECT_FALSE(std::filesystem::exists(file + ".new"));
}

// On a full disk nothing could be written; the inode tells whether anything was.
TEST(WritePrivateFile, LeavesAloneWhatIsLikeThatAlready) {
  const store::testing::TempDirectory dir;
  const std::string file = dir / "kubeconfig";
  ASSERT_TRUE(write_private_file(file, "text"));
  const auto inode = look(file).st_ino;
  const std::string other_link = dir / "other";  // keeps the inode's number in use
  std::filesystem::create_hard_link(file, other_link);
  ASSERT_TRUE(write_private_file(file, "text"));
  EXPECT_EQ(look(file).st_ino, inode);
  ASSERT_TRUE(write_private_file(file, "texts"));
  EXPECT_NE(look(file).st_ino, inode);
}

TEST(WritePrivateFile, TakesRightsFromOthers) {
  const store::testing::TempDirectory dir;
  const std::string file = dir / "kubeconfig";
  ASSERT_TRUE(write_private_file(file, "text"));
  ::chmod(file.c_str(), 0644);
  ASSERT_TRUE(write_private_file(file, "text"));
  EXPECT_EQ(look(file).st_mode & 0777, 0600U);
}

}  // namespace
}  // namespace muster::cli
