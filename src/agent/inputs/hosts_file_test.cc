#include "agent/inputs/hosts_file.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace muster::agent {
namespace hosts_file_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class Hosts : public ::testing::Test {
 protected:
  Hosts() : path_(::testing::TempDir() + "hosts_" + std::to_string(::getpid())) {
    std::filesystem::remove(path_);
  }
  ~Hosts() override { std::filesystem::remove(path_); }

  HostsFile open(std::string_view machine = "") { return *HostsFile::open(path_, machine); }
  std::string text() const {
    std::ostringstream out;
    out << std::ifstream(path_).rdbuf();
    return out.str();
  }
  // What a reader finds behind the head: lines that are no comments, without padding.
  std::vector<std::string> read() const {
    std::istringstream in(text());
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with("127.7")) continue;
      out.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
    }
    return out;
  }
  static std::string line(int i) {
    return "127.7.0." + std::to_string(i) + "\tw-" + std::to_string(i);
  }

  std::string path_;
};

TEST_F(Hosts, BeginsAsAKubeletWritesIt) {
  open();
  EXPECT_EQ(text(),
            "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n"
            "::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\n"
            "fe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n"
            "# Pods of this namespace.\n");
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0644));
}

TEST_F(Hosts, KeepsWhatTheMachineKnows) {
  open("# a comment\n127.0.0.1 localhost\n\n10.0.0.9\tstorage\n::1 ip6-loopback\n127.0.1.1 box");
  EXPECT_THAT(text(),
              HasSubstr("# Entries of this machine.\n10.0.0.9\tstorage\n127.0.1.1 box\n# Pods"));
}

TEST_F(Hosts, LinesAreShownAndHiddenInPlace) {
  HostsFile file = open();
  ASSERT_TRUE(file.show(line(1)));
  ASSERT_TRUE(file.show(line(2)));
  ASSERT_TRUE(file.show(line(1)));
  EXPECT_THAT(read(), ElementsAre(line(1), line(2)));
  const std::size_t size = text().size();
  ASSERT_TRUE(file.hide(line(1)));
  ASSERT_TRUE(file.hide(line(1)));
  ASSERT_TRUE(file.hide("127.7.9.9\tnever seen"));
  EXPECT_THAT(read(), ElementsAre(line(2)));
  ASSERT_TRUE(file.show(line(1)));
  EXPECT_THAT(read(), ElementsAre(line(1), line(2)));
  EXPECT_EQ(text().size(), size);
}

TEST_F(Hosts, TheFileStaysTheSameOne) {
  HostsFile file = open();
  const auto identity = [&] {
    struct stat info{};
    ::stat(path_.c_str(), &info);
    return info.st_ino;
  };
  const auto before = identity();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(file.show(line(i)));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(file.hide(line(i)));
  open();
  EXPECT_EQ(identity(), before);
}

TEST_F(Hosts, GrowsWithThoseWhoAreThereAndNotWithThoseWhoWere) {
  HostsFile file = open();
  const std::size_t head = text().size();
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(file.show(line(i)));
    if (i >= 10) {
      ASSERT_TRUE(file.hide(line(i - 10)));
    }
  }
  EXPECT_LE(text().size() - head, (HostsFile::kKeptHidden + 12) * HostsFile::kSlot);
  std::vector<std::string> expected;
  for (int i = 4990; i < 5000; ++i) expected.push_back(line(i));
  EXPECT_THAT(read(), ::testing::UnorderedElementsAreArray(expected));
}

TEST_F(Hosts, LongLinesFindTheirPlaceToo) {
  HostsFile file = open();
  const std::string most = "127.7.1.1\t" + std::string(600, 'x');
  const std::string exact = "127.7.1.2\t" + std::string(HostsFile::kSlot - 11, 'y');
  ASSERT_TRUE(file.show(most));
  ASSERT_TRUE(file.show(exact));
  ASSERT_TRUE(file.show(line(1)));
  EXPECT_THAT(read(), ElementsAre(most, exact, line(1)));
  EXPECT_THAT(open().lines(), UnorderedElementsAre(most, exact, line(1)));
}

TEST_F(Hosts, IsFoundAgainByTheNextProcess) {
  {
    HostsFile file = open();
    for (int i = 1; i <= 3; ++i) ASSERT_TRUE(file.show(line(i)));
    ASSERT_TRUE(file.hide(line(2)));
  }
  HostsFile file = open();
  EXPECT_THAT(file.lines(), ElementsAre(line(1), line(2), line(3)));
  EXPECT_THAT(read(), ElementsAre(line(1), line(3)));
  ASSERT_TRUE(file.show(line(2)));
  EXPECT_THAT(read(), ElementsAre(line(1), line(2), line(3)));
}

TEST_F(Hosts, WhatACrashCutShortIsWrittenOver) {
  {
    HostsFile file = open();
    ASSERT_TRUE(file.show(line(1)));
  }
  std::ofstream(path_, std::ios::app) << "#27.7.0.2\thalf a l";
  HostsFile file = open();
  ASSERT_TRUE(file.show(line(3)));
  EXPECT_THAT(read(), ElementsAre(line(1), line(3)));
  EXPECT_THAT(text(), Not(HasSubstr("half")));
}

TEST_F(Hosts, WhatIsNotOursIsMadeAnew) {
  for (const char* const strange : {"garbage", "# Pods of this namespace.\nx\n"}) {
    std::ofstream(path_) << strange;
    HostsFile file = open();
    EXPECT_THAT(text(), ::testing::StartsWith("# Kubernetes-managed"));
    ASSERT_TRUE(file.show(line(1)));
    EXPECT_THAT(read(), ElementsAre(line(1)));
  }
  std::ofstream(path_, std::ios::app) << "127.7.0.5 not a slot\n";
  EXPECT_THAT(open().lines(), ::testing::IsEmpty());
}

TEST_F(Hosts, LinksAreNotFollowed) {
  const std::string victim = path_ + "_victim";
  std::ofstream(victim) << "precious";
  std::filesystem::create_symlink(victim, path_);
  EXPECT_FALSE(HostsFile::open(path_, ""));
  std::ostringstream out;
  out << std::ifstream(victim).rdbuf();
  EXPECT_EQ(out.str(), "precious");
  std::filesystem::remove(victim);
}

}  // namespace hosts_file_test
}  // namespace muster::agent
