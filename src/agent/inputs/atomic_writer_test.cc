#include "agent/inputs/atomic_writer.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "agent/inputs/files_testing.h"

namespace muster::agent {
namespace atomic_writer_test {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class AtomicWriter : public ::testing::Test {
 protected:
  AtomicWriter() { fs::create_directory(folder()); }
  std::string folder() const { return scratch_ / "v"; }
  std::string at(std::string_view name) const { return folder() + "/" + std::string(name); }
  Status write(const Payload& payload) { return write_payload(folder(), payload, {}, clock_); }
  std::string version() const { return fs::read_symlink(at("..data")); }
  // Without versions.
  std::set<std::string> visible() const {
    auto names = names_in(folder());
    std::erase_if(names, [](const std::string& name) { return name.starts_with("..2"); });
    return names;
  }

  Scratch scratch_;
  ManualClock clock_{*parse_time("2026-11-15T09:45:40.123456Z")};
};

TEST_F(AtomicWriter, HasTheLayoutThatReadersKnow) {
  ASSERT_TRUE(write({{"app.conf", {"x=1", 0644}}, {"sub/deep/file", {"y", 0600}}}));
  EXPECT_EQ(version(), "..2026_11_15_09_45_40.123456");
  EXPECT_EQ(fs::read_symlink(at("app.conf")), "..data/app.conf");
  EXPECT_EQ(fs::read_symlink(at("sub")), "..data/sub");
  EXPECT_THAT(names_in(folder()),
              ElementsAre("..2026_11_15_09_45_40.123456", "..data", "app.conf", "sub"));
  EXPECT_EQ(read_file(at("app.conf")), "x=1");
  EXPECT_EQ(read_file(at("sub/deep/file")), "y");
  EXPECT_EQ(mode_of(at("app.conf")), 0644u);
  EXPECT_EQ(mode_of(at("sub/deep/file")), 0600u);
  EXPECT_EQ(mode_of(at("sub/deep")), 0755u);
  EXPECT_EQ(*current_payload(folder()), version());
}

TEST_F(AtomicWriter, AnEmptyPayloadIsAnEmptyFolder) {
  ASSERT_TRUE(write({}));
  EXPECT_THAT(visible(), ElementsAre("..data"));
}

TEST_F(AtomicWriter, WhatIsEqualIsNotWritten) {
  const Payload payload = {{"a", {"1", 0644}}, {"b/c", {"", 0400}}};
  ASSERT_TRUE(write(payload));
  const std::string before = version();
  clock_.advance(std::chrono::seconds(1));
  ASSERT_TRUE(write(payload));
  EXPECT_EQ(version(), before);
}

TEST_F(AtomicWriter, EveryDifferenceIsWritten) {
  Payload payload = {{"a", {"1", 0644}}, {"b", {"2", 0644}}};
  std::string last;
  const auto expect_new = [&](const char* what) {
    ASSERT_TRUE(write(payload));
    EXPECT_NE(version(), last) << what;
    last = version();
  };
  expect_new("first");
  payload["a"].bytes = "3";
  expect_new("content of the same length, in the same microsecond");
  payload["a"].bytes = "33";
  expect_new("longer content");
  payload["a"].mode = 0600;
  expect_new("mode");
  payload["c/d"] = {"4", 0644};
  expect_new("one more");
  payload.erase("b");
  expect_new("one less");
  EXPECT_THAT(visible(), ElementsAre("..data", "a", "c"));
  EXPECT_EQ(names_in(folder()).size(), 4u);  // old versions are gone
  EXPECT_EQ(mode_of(at("a")), 0600u);
}

TEST_F(AtomicWriter, AFileMayBecomeAFolder) {
  ASSERT_TRUE(write({{"a", {"1"}}}));
  ASSERT_TRUE(write({{"a/b", {"2"}}}));
  EXPECT_EQ(read_file(at("a/b")), "2");
  EXPECT_FALSE(write({{"a", {"1"}}, {"a/b", {"2"}}}));
  EXPECT_EQ(read_file(at("a/b")), "2");  // still the old ones
  EXPECT_EQ(names_in(folder()).size(), 3u);
}

TEST_F(AtomicWriter, GoesOnWhereACrashLeftIt) {
  ASSERT_TRUE(write({{"a", {"1"}}}));
  fs::create_directory(at("..2020_01_01_00_00_00.000000"));
  fs::create_symlink("..2020_01_01_00_00_00.000000", at("..data_tmp"));
  fs::remove(at("a"));
  ASSERT_TRUE(write({{"a", {"1"}}}));
  EXPECT_THAT(visible(), ElementsAre("..data", "a"));
  EXPECT_EQ(names_in(folder()).size(), 3u);
  EXPECT_EQ(read_file(at("a")), "1");
}

TEST_F(AtomicWriter, StrangeThingsInItsPlaceAreReplaced) {
  write_file(scratch_ / "victim", "precious");
  fs::create_symlink("../victim", at("a"));
  fs::create_directory_symlink("..", at("..data"));
  ASSERT_TRUE(write({{"a", {"1"}}}));
  EXPECT_EQ(read_file(at("a")), "1");
  EXPECT_EQ(read_file(scratch_ / "victim"), "precious");
  EXPECT_THAT(version(), ::testing::StartsWith("..2026"));
}

TEST_F(AtomicWriter, PathsAreCleaned) {
  ASSERT_TRUE(write({{"a//b", {"1"}}, {"./c", {"2"}}, {"d/.", {"3"}}}));
  EXPECT_EQ(read_file(at("a/b")), "1");
  EXPECT_EQ(read_file(at("c")), "2");
  EXPECT_EQ(read_file(at("d")), "3");
}

struct Wrong {
  std::string path;
  std::string message;
};
class PayloadPath : public ::testing::TestWithParam<Wrong> {};
TEST_P(PayloadPath, IsRefused) {
  EXPECT_EQ(check_payload_path(GetParam().path).error().message,
            "invalid path: " + GetParam().message);
}
INSTANTIATE_TEST_SUITE_P(
    Hostile, PayloadPath,
    ::testing::Values(Wrong{"", "must not be empty: \"\""},
                      Wrong{"/a", "must be relative path: /a"},
                      Wrong{"..", "must not contain '..': .."},
                      Wrong{"a/../../b", "must not contain '..': a/../../b"},
                      Wrong{"..a", "must not start with '..': ..a"},
                      Wrong{"..data/x", "must not start with '..': ..data/x"},
                      Wrong{std::string(256, 'a'),
                            "filenames must be less than or equal to 255 characters"},
                      Wrong{std::string(4097, '/').replace(0, 1, "a"),
                            "must be less than or equal to 4096 characters"},
                      Wrong{std::string("a\0b", 3), "must not contain a null byte"}));

TEST(PayloadPaths, ThatAreOrdinaryAreFine) {
  for (const char* path : {"a", "a..", "a/..b", ".hidden", "a b", "ä"})
    EXPECT_TRUE(check_payload_path(path)) << path;
  Scratch scratch;
  EXPECT_FALSE(write_payload(scratch.path(), {{".", {"x"}}}, {}, real_clock()));
}

// A reader that goes in by ..data once has all files of one version.
TEST_F(AtomicWriter, ReadersNeverSeeAMixture) {
  const auto payload = [](int i) {
    return Payload{{"a", {std::to_string(i)}}, {"b", {std::to_string(i)}}};
  };
  ASSERT_TRUE(write(payload(0)));
  std::atomic<bool> stop = false;
  std::atomic<int> mixtures = 0;
  std::atomic<int> seen = 0;
  std::thread reader([&] {
    while (!stop) {
      const auto root = open_folder(at("..data"));
      if (!root) continue;
      const std::string a = read_file(path_of(*root) + "/a");
      const std::string b = read_file(path_of(*root) + "/b");
      if (a == "no file" || b == "no file") continue;  // that version is gone meanwhile
      ++seen;
      if (a != b) ++mixtures;
    }
  });
  for (int i = 1; i < 50 || seen == 0; ++i) ASSERT_TRUE(write(payload(i)));
  stop = true;
  reader.join();
  EXPECT_EQ(mixtures, 0);
}

TEST_F(AtomicWriter, FilesGetTheirOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  ASSERT_TRUE(write_payload(folder(), {{"a", {"1", 0400}}}, {.user = 1234, .group = 4321}, clock_));
  struct stat info{};
  ASSERT_EQ(::stat(at("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 1234u);
  EXPECT_EQ(info.st_gid, 4321u);
  EXPECT_EQ(mode_of(at("a")), 0400u);
}

}  // namespace atomic_writer_test
}  // namespace muster::agent
