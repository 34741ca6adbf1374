#include "engine/data_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "store/testing/temp_directory.h"

namespace muster::engine {
namespace data_dir_test {

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

class OpenCredentials : public ::testing::Test {
 protected:
  Result<Credentials> open() { return open_credentials(data, {"localhost"}, clock); }

  const store::testing::TempDirectory dir;
  const std::string data = dir / "data";
  ManualClock clock{Time{std::chrono::hours(24 * 365 * 50)}};
};

TEST_F(OpenCredentials, KeysAreMadeOnceAndKept) {
  ASSERT_TRUE(make_data_dir(data));
  const auto first = open();
  ASSERT_TRUE(first) << first.error().message;
  const auto again = open();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->ca_pem, first->ca_pem);
  EXPECT_EQ(again->token_key, first->token_key);
}

// The first start came with a clock that was fast.
TEST_F(OpenCredentials, AClockThatIsPutRightLocksNobodyOut) {
  for (const Duration fast : {Duration(std::chrono::days(2)), Duration(std::chrono::days(4'000))}) {
    const std::string each = dir / std::to_string(fast.count());
    ASSERT_TRUE(make_data_dir(each));
    ManualClock wrong(clock.now() + fast);
    const auto first = open_credentials(each, {"localhost"}, wrong);
    ASSERT_TRUE(first) << first.error().message;
    const auto then = open_credentials(each, {"localhost"}, clock);
    ASSERT_TRUE(then) << then.error().message;
    for (const std::string& pem :
         {then->ca_pem, then->server.certificate_pem, then->admin.certificate_pem}) {
      const net::Validity validity = net::inspect_certificate(pem)->validity;
      EXPECT_LE(validity.not_before, clock.now());
      EXPECT_GT(validity.not_after, clock.now());
    }
    // Who trusts the old certificate accepts what is served now.
    EXPECT_TRUE(net::check_key_pair(then->server, first->ca_pem));
    EXPECT_TRUE(net::check_key_pair(then->server, then->ca_pem));
  }
}

// A machine without a battery starts in the past.
TEST_F(OpenCredentials, AnAuthorityThatHasEndedIsRenewed) {
  ASSERT_TRUE(make_data_dir(data));
  ManualClock wrong(Time{});
  const auto first = open_credentials(data, {"localhost"}, wrong);
  ASSERT_TRUE(first) << first.error().message;
  const auto then = open();
  ASSERT_TRUE(then) << then.error().message;
  EXPECT_GT(net::inspect_certificate(then->ca_pem)->validity.not_after, clock.now());
  EXPECT_TRUE(net::check_key_pair(then->admin, first->ca_pem));
}

TEST_F(OpenCredentials, ADirectoryThatOthersMayOpenIsRefused) {
  ASSERT_TRUE(make_data_dir(data));
  ::chmod(data.c_str(), 0755);
  EXPECT_EQ(make_data_dir(data).error().code, Code::kForbidden);
}

TEST_F(OpenCredentials, AKeyThatAnybodyCouldGuessIsRefused) {
  ASSERT_TRUE(make_data_dir(data));
  ASSERT_TRUE(open());
  ASSERT_TRUE(write_private_file(data + "/pki/tokens.key", ""));
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalid);
}

}  // namespace data_dir_test
}  // namespace muster::engine
