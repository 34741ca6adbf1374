#include "agent/inputs/host_path.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "agent/inputs/files_testing.h"

namespace muster::agent {
namespace host_path_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class HostPath : public ::testing::Test {
 protected:
  HostPath() {
    fs::create_directories(scratch_ / "open/folder");
    fs::create_directory(scratch_ / "closed");
    write_file(scratch_ / "open/file", "x");
  }
  std::string prepare(std::string_view path, std::string_view type) {
    const Status done = prepare_host_path(rights(), scratch_ / path, type);
    return done ? "" : done.error().message;
  }
  bool allowed(const std::string& path) { return allowed_host_path(rights(), path).has_value(); }
  HostPathRights rights() { return {.prefixes = {scratch_ / "open"}, .user = {}}; }
  Scratch scratch_;
};

TEST_F(HostPath, OnlyWhatThePolicyNames) {
  EXPECT_TRUE(allowed(scratch_ / "open"));
  EXPECT_TRUE(allowed(scratch_ / "open/folder/"));
  EXPECT_TRUE(allowed(scratch_ / "open/not/yet"));
  EXPECT_FALSE(allowed(scratch_ / "closed"));
  EXPECT_FALSE(allowed(scratch_ / "open-not"));
  EXPECT_FALSE(allowed(scratch_.path()));
  EXPECT_FALSE(allowed("/"));
  EXPECT_TRUE(allowed_host_path({.prefixes = {"/"}, .user = {}}, scratch_ / "closed"));
  EXPECT_EQ(allowed_host_path({.prefixes = {"/a", "/b"}, .user = {}}, "/etc").error().message,
            "hostPath /etc is not allowed on this node (allowed by --host-path: /a, /b)");
}

TEST_F(HostPath, NoWayAround) {
  EXPECT_FALSE(allowed("open"));
  EXPECT_FALSE(allowed(scratch_ / "open/../closed"));
  fs::create_directory_symlink("../closed", scratch_ / "open/out");
  EXPECT_FALSE(allowed(scratch_ / "open/out"));
  EXPECT_FALSE(allowed(scratch_ / "open/out/new"));
  EXPECT_NE(prepare("open/out/new", "DirectoryOrCreate"), "");
  EXPECT_FALSE(fs::exists(scratch_ / "closed/new"));
}

TEST_F(HostPath, NothingOfAFolderOfTheServer) {
  HostPathRights rights{.prefixes = {"/"}, .user = {}, .closed = {scratch_ / "open/folder"}};
  fs::create_directory_symlink("folder", scratch_ / "open/link");
  fs::create_directory(scratch_ / "open/folder/pki");
  for (const char* path : {"open/folder", "open/folder/", "open/folder/pki", "open/folder/new/deep",
                           "open/link", "open/link/pki"}) {
    const auto found = allowed_host_path(rights, scratch_ / path);
    ASSERT_FALSE(found) << path;
    EXPECT_EQ(found.error().message, fmt::format("hostPath {} is not allowed: it belongs to the "
                                                 "server",
                                                 scratch_ / path));
    EXPECT_FALSE(prepare_host_path(rights, scratch_ / path, "DirectoryOrCreate")) << path;
  }
  EXPECT_FALSE(fs::exists(scratch_ / "open/folder/new"));
  for (const char* path : {"open", "open/file", "open/folder-2", "closed"})
    EXPECT_TRUE(allowed_host_path(rights, scratch_ / path)) << path;
  rights.closed = {scratch_ / "not-there"};
  EXPECT_TRUE(allowed_host_path(rights, scratch_ / "open/folder"));
}

TEST_F(HostPath, LinksThatStayInsideAreResolved) {
  fs::create_directory_symlink("folder", scratch_ / "open/in");
  EXPECT_EQ(*allowed_host_path(rights(), scratch_ / "open/in"), scratch_ / "open/folder");
  fs::create_directory_symlink("open", scratch_ / "prefix");
  EXPECT_EQ(*allowed_host_path({.prefixes = {scratch_ / "prefix"}, .user = {}},
                               scratch_ / "prefix/folder"),
            scratch_ / "open/folder");
}

TEST_F(HostPath, TypesAreChecked) {
  const auto wrong = [&](std::string_view path, std::string_view what) {
    return fmt::format("hostPath type check failed: {} is not a {}", scratch_ / path, what);
  };
  EXPECT_EQ(prepare("open/folder", "Directory"), "");
  EXPECT_EQ(prepare("open/file", "Directory"), wrong("open/file", "directory"));
  EXPECT_EQ(prepare("open/none", "Directory"), wrong("open/none", "directory"));
  EXPECT_EQ(prepare("open/file", "DirectoryOrCreate"), wrong("open/file", "directory"));
  EXPECT_EQ(prepare("open/file", "File"), "");
  EXPECT_EQ(prepare("open/folder", "File"), wrong("open/folder", "file"));
  EXPECT_EQ(prepare("open/folder", "FileOrCreate"), wrong("open/folder", "file"));
  EXPECT_EQ(prepare("open/none", "File"), wrong("open/none", "file"));
  EXPECT_EQ(prepare("open/file", "Socket"), wrong("open/file", "socket file"));
  EXPECT_EQ(prepare("open/file", "CharDevice"), wrong("open/file", "character device"));
  EXPECT_EQ(prepare("open/file", "BlockDevice"), wrong("open/file", "block device"));
  EXPECT_EQ(prepare("open/file", "Strange"), "Strange is an invalid volume type");
  EXPECT_EQ(prepare("open/file", ""), "");
  EXPECT_TRUE(prepare_host_path({.prefixes = {"/dev"}, .user = {}}, "/dev/null", "CharDevice"));
}

TEST_F(HostPath, SocketsAreFound) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::string(scratch_ / "open/s").copy(&address.sun_path[0], sizeof(address.sun_path) - 1);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(prepare("open/s", "Socket"), "");
}

TEST_F(HostPath, SomeTypesMakeWhatIsMissing) {
  EXPECT_EQ(prepare("open/a/b", "DirectoryOrCreate"), "");
  EXPECT_EQ(mode_of(scratch_ / "open/a/b"), 0755u);
  EXPECT_EQ(prepare("open/f", "FileOrCreate"), "");
  EXPECT_EQ(prepare("open/folder/f", "FileOrCreate"), "");
  EXPECT_EQ(mode_of(scratch_ / "open/folder/f"), 0644u);
  EXPECT_NE(prepare("open/none/f", "FileOrCreate"), "");
  EXPECT_EQ(prepare("open/plain", ""), "");
  EXPECT_TRUE(fs::is_directory(scratch_ / "open/plain"));
}

// Root may lend rights: what the pod's user cannot reach, a hostPath does not give him either.
class HostPathOfAnother : public HostPath {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root has pods of other users";
    fs::permissions(scratch_.path(), fs::perms(0711));
    fs::permissions(scratch_ / "closed", fs::perms(0700));
    write_file(scratch_ / "closed/file", "x");
    fs::permissions(scratch_ / "closed/file", fs::perms(0644));
  }
  HostPathRights rights_of(std::uint32_t uid) {
    return {.prefixes = {"/"}, .user = {.uid = uid, .gid = uid, .groups = {}}};
  }
  std::string prepare_for(std::uint32_t uid, std::string_view path, std::string_view type = "") {
    const Status done = prepare_host_path(rights_of(uid), scratch_ / path, type);
    return done ? "" : done.error().message;
  }
  std::string denied(std::string_view path, std::string_view why = "Permission denied") {
    return fmt::format("hostPath {} cannot be had by user 4242: {}", scratch_ / path, why);
  }
};

TEST(HostPathOfProcesses, IsRefused) {
  for (const char* path : {"/proc", "/proc/sys", "/proc/self"}) {
    const Status made = prepare_host_path({.prefixes = {"/"}, .user = {}}, path, "");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message,
              fmt::format("hostPath {} is not allowed: it shows the processes of all pods", path));
  }
}

TEST_F(HostPathOfAnother, IsOnlyWhatHeCanReach) {
  EXPECT_TRUE(allowed_host_path(rights_of(4242), scratch_ / "open/file"));
  EXPECT_EQ(allowed_host_path(rights_of(4242), scratch_ / "closed/file").error().message,
            denied("closed/file"));
  EXPECT_EQ(prepare_for(4242, "closed/file"), denied("closed/file"));
  EXPECT_EQ(prepare_for(4242, "open/file", "File"), "");
  EXPECT_EQ(prepare_for(0, "closed/file", "File"), "");
}

TEST_F(HostPathOfAnother, IsMadeByHimOrNotAtAll) {
  EXPECT_EQ(prepare_for(4242, "open/new", "DirectoryOrCreate"),
            denied("open/new", (scratch_ / "open/new").substr(1) + ": Permission denied"));
  EXPECT_FALSE(fs::exists(scratch_ / "open/new"));
  fs::permissions(scratch_ / "open", fs::perms(0777));
  EXPECT_EQ(prepare_for(4242, "open/new", "DirectoryOrCreate"), "");
  EXPECT_EQ(prepare_for(4242, "open/new.file", "FileOrCreate"), "");
  for (const char* made : {"open/new", "open/new.file"}) {
    struct stat info{};
    ASSERT_EQ(::stat((scratch_ / made).c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, 4242u);
  }
}

TEST_F(HostPathOfAnother, IsReachedByHisGroupsToo) {
  fs::permissions(scratch_ / "closed", fs::perms(0710));
  ASSERT_EQ(::chown((scratch_ / "closed").c_str(), 0, 777), 0);
  HostPathRights rights = rights_of(4242);
  EXPECT_FALSE(allowed_host_path(rights, scratch_ / "closed/file"));
  rights.user.groups = {777};
  EXPECT_TRUE(allowed_host_path(rights, scratch_ / "closed/file"));
}

}  // namespace host_path_test
}  // namespace muster::agent
