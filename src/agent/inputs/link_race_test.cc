// S6, the whole way from a volume's path to the mount that the runtime makes of it, while somebody
// swaps a folder for a link to the outside, and back. The long form is MUSTER_RACE_TRIES=1000000.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <thread>

#include "agent/inputs/files_testing.h"
#include "agent/inputs/testing.h"
#include "agent/inputs/volumes.h"
#include "runtime/borrowed_rights.h"
#include "runtime/view.h"

namespace muster::agent {
namespace link_race_test {

namespace fs = std::filesystem;

constexpr long kShort = 3'000;
constexpr long kPatience = 1'000'000;  // until both folders were met, on a machine with one core

class LinkRace : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root mounts without namespaces";
    fs::permissions(scratch_.path(), fs::perms(0711));
    fs::create_directories(scratch_ / "outside/b");
    root_.pod_directory = scratch_ / "pod";
    root_.policy = {.claims_directory = scratch_ / "claims", .host_paths = {scratch_ / "open"}};
    root_.user = {.uid = 4242, .gid = 4242, .groups = {}};
    fs::create_directories(scratch_ / "pod");
  }

  static ino_t inode(int fd) {
    struct stat info{};
    return ::fstat(fd, &info) == 0 ? info.st_ino : 0;
  }

  // As the runtime takes it.
  static Result<runtime::View::Source> take(const runtime::Mount& mount,
                                            const runtime::User& user) {
    if (!mount.as_user) return runtime::View::take(mount);
    const runtime::BorrowedRights rights(user);
    return runtime::View::take(mount);
  }

  void race(const std::string& folder, std::string_view volume, std::string_view mount) {
    const char* const wanted = std::getenv("MUSTER_RACE_TRIES");
    const long tries = wanted != nullptr ? std::atol(wanted) : kShort;
    fs::create_directories(folder + "/a/b");
    fs::create_directory_symlink(scratch_ / "outside", folder + "/link");
    const UniqueFd outside(::open((scratch_ / "outside/b").c_str(), O_PATH | O_CLOEXEC));
    const json::Tree pod(
        fmt::format(R"({{"metadata":{{"namespace":"d"}},"spec":{{"volumes":[{}]}}}})", volume));
    const json::Tree container(fmt::format(R"({{"name":"main","volumeMounts":[{}]}})", mount));
    std::atomic<bool> stop = false;
    std::thread swapper([&] {
      const UniqueFd at = *open_folder(folder);
      while (!stop) ::renameat2(at.get(), "a", at.get(), "link", RENAME_EXCHANGE);
    });
    long taken = 0, refused = 0, wrong = 0;
    const auto met_both = [&] { return taken > 0 && refused > 0; };
    for (long i = 0; i < tries || (!met_both() && i < kPatience); ++i) {
      const auto mounts = mounts_of(root_, pod, container, {}, objects_);
      const auto source = mounts ? take(mounts->at(0), root_.user)
                                 : Result<runtime::View::Source>(std::unexpected(mounts.error()));
      source ? ++taken : ++refused;
      if (source && inode(source->tree.get()) == inode(outside.get())) ++wrong;
    }
    stop = true;
    swapper.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(taken, 0);
    EXPECT_GT(refused, 0);
  }

  Scratch scratch_;
  VolumeRoot root_;
  FakeObjects objects_;
};

TEST_F(LinkRace, OfASubPath) {
  const std::string_view volume = R"({"name":"v","emptyDir":{}})";
  const json::Tree pod(
      fmt::format(R"({{"metadata":{{"namespace":"d"}},"spec":{{"volumes":[{}]}}}})", volume));
  ASSERT_TRUE(set_up_volumes(root_, pod, {}, objects_));
  race(scratch_ / "pod/volumes/v", volume, R"({"name":"v","mountPath":"/v","subPath":"a/b"})");
}

TEST_F(LinkRace, OfAHostPath) {
  race(scratch_ / "open",
       fmt::format(R"({{"name":"v","hostPath":{{"path":"{}"}}}})", scratch_ / "open/a/b"),
       R"({"name":"v","mountPath":"/v"})");
}

}  // namespace link_race_test
}  // namespace muster::agent
