#include "engine/run_share.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

namespace muster::engine {
namespace run_share_test {

class RunShareTest : public ::testing::Test {
 protected:
  RunShareTest() {
    std::string pattern = ::testing::TempDir() + "share-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    dir = pattern;
  }
  ~RunShareTest() override { std::filesystem::remove_all(dir); }
  std::optional<RunShare> join() const {
    auto share = RunShare::join(dir);
    EXPECT_TRUE(share);
    return share ? std::optional(*std::move(share)) : std::nullopt;
  }
  std::string dir;
};

TEST_F(RunShareTest, TheFirstIsTheHost) {
  auto first = join(), second = join();
  EXPECT_FALSE(second->has_host());
  EXPECT_TRUE(first->host());
  EXPECT_FALSE(first->has_host()) << "another one";
  EXPECT_FALSE(second->host());
  EXPECT_TRUE(second->has_host());
}

TEST_F(RunShareTest, GuestsKnowTheirHost) {
  auto host = join(), guest = join();
  EXPECT_EQ(guest->host_pid(), 0);
  EXPECT_TRUE(host->host());
  EXPECT_EQ(guest->host_pid(), ::getpid());
}

TEST_F(RunShareTest, AHostEndsAfterItsLastGuest) {
  auto host = join();
  EXPECT_TRUE(host->host());
  EXPECT_TRUE(host->is_alone());
  auto guest = join();
  EXPECT_FALSE(host->is_alone());
  EXPECT_FALSE(host->close());
  guest.reset();
  EXPECT_TRUE(host->is_alone());
  EXPECT_TRUE(host->close());
}

TEST_F(RunShareTest, AHostThatDiedHasNoSuccessorInItsPlaceUntilOneWants) {
  auto host = join();
  EXPECT_TRUE(host->host());
  auto guest = join();
  host.reset();
  EXPECT_FALSE(guest->has_host());
  EXPECT_TRUE(guest->is_alone());
  EXPECT_TRUE(guest->host());
}

TEST_F(RunShareTest, SaysWhatCannotBeLocked) {
  const auto share = RunShare::join(dir + "/missing");
  ASSERT_FALSE(share);
  EXPECT_NE(share.error().message.find("missing/runs.lock"), std::string::npos);
}

}  // namespace run_share_test
}  // namespace muster::engine
