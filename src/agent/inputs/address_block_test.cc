#include "agent/inputs/address_block.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "agent/inputs/files_testing.h"
#include "agent/inputs/lock_folder.h"

namespace muster::agent {
namespace address_block_test {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AddressBlockTest : public ::testing::Test {
 protected:
  AddressBlockTest() { fs::create_directory(scratch_ / "locks"); }
  Result<AddressBlock> take(const std::string& file, bool with_folder = true) {
    return AddressBlock::take(scratch_ / file, {.folder = with_folder ? scratch_ / "locks" : "",
                                                .name = scratch_.path()});
  }
  // What any process of the machine can do.
  void bind_all_names() {
    for (int number = AddressBlock::kFirst; number <= AddressBlock::kLast; ++number) {
      UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const std::string name = fmt::format("{}-127.{}", scratch_.path(), number);
      sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
      name.copy(&address.sun_path[1], sizeof(address.sun_path) - 1);
      const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
      if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0)
        bound_.push_back(std::move(fd));
    }
  }
  Scratch scratch_;
  std::vector<UniqueFd> bound_;
};

TEST_F(AddressBlockTest, NamesThatAPodHasBoundKeepNoServerFromStarting) {
  bind_all_names();
  ASSERT_EQ(bound_.size(), 254U);
  const auto one = take("one");
  const auto two = take("two");
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_NE(one->number(), two->number());
}

TEST_F(AddressBlockTest, AServersChoiceIsKeptThoughItsNameIsTaken) {
  const int chosen = take("one")->number();
  bind_all_names();
  EXPECT_EQ(take("one")->number(), chosen);
}

TEST_F(AddressBlockTest, OfFreeBlocksThoseWhoseNameIsFreeComeFirst) {
  const int first = take("one")->number();
  fs::create_directory(scratch_ / "others");
  const auto other = AddressBlock::take(scratch_ / "one",
                                        {.folder = scratch_ / "others", .name = scratch_.path()});
  ASSERT_EQ(other->number(), first) << "another user has it";
  EXPECT_NE(take("one")->number(), first);
}

TEST_F(AddressBlockTest, WithoutAFolderNamesAreAllThereIs) {
  const auto one = take("one", false);
  ASSERT_TRUE(one);
  EXPECT_NE(take("two", false)->number(), one->number());
  bind_all_names();
  const auto none = take("three", false);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("all 254 blocks"));
}

TEST(LockFolder, IsTheFirstThatNobodyElseCanOpen) {
  const Scratch scratch;
  EXPECT_EQ(find_lock_folder({scratch / "no/such", scratch / "made"}), scratch / "made");
  EXPECT_EQ(fs::status(scratch / "made").permissions(), fs::perms::owner_all);
  EXPECT_EQ(find_lock_folder({scratch / "made"}), scratch / "made");
  fs::create_directory(scratch / "open");
  ASSERT_EQ(::chmod((scratch / "open").c_str(), 0755), 0);
  fs::create_directory_symlink(scratch / "made", scratch / "link");
  write_file(scratch / "file", "x");
  EXPECT_EQ(find_lock_folder({scratch / "open", scratch / "link", scratch / "file"}), "");
}

TEST(LockFolder, IsTheSameForAllServersOfAUser) {
  EXPECT_THAT(lock_folder_candidates(0), ElementsAre("/run/muster", "/tmp/muster-0"));
  EXPECT_THAT(lock_folder_candidates(7), ElementsAre("/run/user/7/muster", "/tmp/muster-7"));
}

}  // namespace address_block_test
}  // namespace muster::agent
