#include "agent/inputs/names.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace muster::agent {
namespace names_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Ne;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class NamesTest : public ::testing::Test {
 protected:
  NamesTest() {
    std::string pattern = ::testing::TempDir() + "namesXXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~NamesTest() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<Names> open(const std::string& name = "a") {
    auto names = Names::open(directory_ + "/" + name, {.folder = directory_, .name = directory_});
    MUSTER_ASSERT(names.has_value(), names.error().message.c_str());
    return *std::move(names);
  }
  static std::string add(Names& names, const std::string& uid, const std::string& hostname,
                         const std::string& subdomain = "js", std::string_view known = "",
                         const std::string& ns = "d") {
    const auto address = names.add({ns, uid, hostname, subdomain}, known);
    return address ? *address : "error: " + address.error().message;
  }
  // Addresses of a name as a reader of the file finds them.
  static std::vector<std::string> resolve(const Names& names, std::string_view name,
                                          std::string_view ns = "d") {
    std::ifstream in(names.hosts_file(ns));
    std::vector<std::string> found;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with('#')) continue;
      std::istringstream words(line);
      std::string address;
      words >> address;
      for (std::string word; words >> word;) {
        if (word == name) found.push_back(address);
      }
    }
    return found;
  }

  std::string directory_;  // and the name of its locks: other tests run beside
};

TEST_F(NamesTest, APodIsFoundByAllItsNames) {
  const auto names = open();
  const std::string address = add(*names, "u", "w-0-1");
  EXPECT_THAT(address, StartsWith(names->block().substr(0, names->block().find(".0.0"))));
  for (const char* name : {"w-0-1.js.d.svc.cluster.local", "w-0-1.js.d.svc", "w-0-1.js", "w-0-1"})
    EXPECT_THAT(resolve(*names, name), ElementsAre(address)) << name;
  EXPECT_THAT(resolve(*names, "localhost"), ElementsAre("127.0.0.1", "::1"));
}

TEST_F(NamesTest, WithoutASubdomainOnlyTheBareNameIsKnown) {
  const auto names = open();
  const std::string address = add(*names, "u", "solo", "");
  EXPECT_THAT(resolve(*names, "solo"), ElementsAre(address));
  EXPECT_THAT(resolve(*names, "solo.d.svc"), IsEmpty());
}

TEST_F(NamesTest, TheServiceLeadsToAllItsPods) {
  const auto names = open();
  const std::string a = add(*names, "1", "w-0");
  const std::string b = add(*names, "2", "w-1");
  add(*names, "3", "w-0", "other");
  for (const char* name : {"js.d.svc.cluster.local", "js.d.svc", "js"})
    EXPECT_THAT(resolve(*names, name), UnorderedElementsAre(a, b)) << name;
  names->remove("1");
  EXPECT_THAT(resolve(*names, "js"), ElementsAre(b));
}

TEST_F(NamesTest, NamespacesSeeOnlyTheirOwn) {
  const auto names = open();
  const std::string mine = add(*names, "1", "w", "js", "", "d");
  const std::string theirs = add(*names, "2", "w", "js", "", "e");
  EXPECT_NE(mine, theirs);
  EXPECT_THAT(resolve(*names, "w", "d"), ElementsAre(mine));
  EXPECT_THAT(resolve(*names, "w", "e"), ElementsAre(theirs));
}

TEST_F(NamesTest, AddingTwiceChangesNothing) {
  const auto names = open();
  const std::string address = add(*names, "1", "w");
  EXPECT_EQ(add(*names, "1", "w"), address);
  EXPECT_THAT(resolve(*names, "w"), ElementsAre(address));
  names->remove("unknown");
}

TEST_F(NamesTest, ASuccessorGetsTheAddressOfTheOneThatHasEnded) {
  const auto names = open();
  const std::string address = add(*names, "1", "w");
  names->remove("1");
  EXPECT_THAT(resolve(*names, "w"), IsEmpty());
  EXPECT_NE(add(*names, "2", "x"), address);
  EXPECT_EQ(add(*names, "3", "w"), address);
  EXPECT_THAT(resolve(*names, "w"), ElementsAre(address));
}

TEST_F(NamesTest, ASuccessorOfOneThatStillEndsTakesOnlyTheName) {
  const auto names = open();
  const std::string old = add(*names, "1", "w");
  const std::string next = add(*names, "2", "w");
  EXPECT_NE(next, old);
  EXPECT_THAT(resolve(*names, "w.js"), ElementsAre(next));
  EXPECT_THAT(resolve(*names, "js"), ElementsAre(next));
  names->remove("1");
  EXPECT_THAT(resolve(*names, "w.js"), ElementsAre(next));
  names->remove("2");
  EXPECT_EQ(add(*names, "3", "w"), next);
}

TEST_F(NamesTest, WhatTheStatusSaysIsKept) {
  const auto names = open();
  EXPECT_EQ(add(*names, "1", "w", "js", "127.3.4.5"), "127.3.4.5");
  EXPECT_THAT(resolve(*names, "w"), ElementsAre("127.3.4.5"));
  EXPECT_EQ(add(*names, "2", "x", "js", "nonsense"), "error: \"nonsense\" is no IPv4 address");
  EXPECT_EQ(add(*names, "2", "x", "js", "10.0.0.1"), "error: 10.0.0.1 is no loopback address");
}

TEST_F(NamesTest, HostileNamesAreRefused) {
  const auto names = open();
  EXPECT_THAT(add(*names, "1", "w\n1.2.3.4 google.com"), StartsWith("error: "));
  EXPECT_THAT(add(*names, "1", "w", "j s"), StartsWith("error: "));
  EXPECT_THAT(add(*names, "1", ""), StartsWith("error: "));
  EXPECT_THAT(add(*names, "1", "w", "js", "", "../block"), StartsWith("error: "));
  EXPECT_THAT(add(*names, "1", "w", "js", "", ""), StartsWith("error: "));
}

TEST_F(NamesTest, TwoServersNeverShareABlock) {
  std::set<std::string> blocks;
  std::vector<std::unique_ptr<Names>> servers;
  for (int i = 0; i < 20; ++i) {
    servers.push_back(open(std::to_string(i)));
    EXPECT_TRUE(blocks.insert(servers.back()->block()).second);
  }
}

TEST_F(NamesTest, ADirectoryGetsItsBlockAgain) {
  const std::string block = open()->block();
  const auto other = open("b");
  EXPECT_EQ(open()->block(), block);
  // Unless somebody else has it now: then it stays with the new one.
  std::filesystem::copy_file(directory_ + "/a/block", directory_ + "/b/block",
                             std::filesystem::copy_options::overwrite_existing);
  const auto first = open();
  std::filesystem::create_directory(directory_ + "/c");
  std::filesystem::copy_file(directory_ + "/a/block", directory_ + "/c/block");
  const std::string moved = open("c")->block();
  EXPECT_NE(moved, block);
  EXPECT_EQ(open("c")->block(), moved);
}

TEST_F(NamesTest, AKilledServersBlockIsFreeAtOnce) {
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto names = Names::open(directory_ + "/a", {.folder = directory_, .name = directory_});
    const std::string block = names ? (*names)->block() : "none";
    (void)!::write(ready[1], block.data(), block.size());
    ::pause();
  }
  std::array<char, 64> text{};
  const ssize_t size = ::read(ready[0], text.data(), text.size());
  const std::string block(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  EXPECT_THAT(block, StartsWith("127."));
  std::filesystem::create_directory(directory_ + "/b");
  std::filesystem::copy_file(directory_ + "/a/block", directory_ + "/b/block");
  EXPECT_THAT(open("b")->block(), Ne(block));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(open("a")->block(), block);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(NamesTest, PodsOfAnEarlierProcessAreKnownUntilItIsClearWhoIsLeft) {
  std::string kept;
  std::string lost;
  {
    const auto names = open();
    kept = add(*names, "1", "w-0");
    lost = add(*names, "2", "w-1");
    add(*names, "3", "x", "js", "", "e");
  }
  const auto names = open();
  EXPECT_THAT(resolve(*names, "w-0"), ElementsAre(kept));
  const std::string fresh = add(*names, "4", "fresh");
  EXPECT_THAT(fresh, ::testing::AllOf(Ne(kept), Ne(lost)));
  EXPECT_EQ(add(*names, "1", "w-0", "js", kept), kept);
  names->settle();
  EXPECT_THAT(resolve(*names, "w-0"), ElementsAre(kept));
  EXPECT_THAT(resolve(*names, "w-1"), IsEmpty());
  EXPECT_THAT(resolve(*names, "js"), UnorderedElementsAre(kept, fresh));
  EXPECT_FALSE(std::filesystem::exists(names->hosts_file("e")));
  EXPECT_EQ(add(*names, "5", "w-1"), lost);  // its address is remembered
}

}  // namespace names_test
}  // namespace muster::agent
