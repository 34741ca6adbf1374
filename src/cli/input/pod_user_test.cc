#include "cli/input/pod_user.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/input/shell_word.h"
#include "json/parse.h"

namespace muster::cli {
namespace pod_user_test {

// In a folder with train.py and sub/run.sh.
std::string needed(std::string_view container) {
  json::Arena arena;
  const auto set = json::parse(arena, fmt::format(R"({{"spec":{{"replicatedJobs":[{{"name":"w",
      "template":{{"spec":{{"template":{{"spec":{{"containers":[{}]}}}}}}}}}}]}}}})",
                                                  container));
  return needed_here(*set, [](const std::string& path) {
    return path == "train.py" || path == "sub/run.sh" || path == "./sub/run.sh" ||
           path == "python3";
  });
}

TEST(PodUser, FilesOfTheFolderAreFoundInCommands) {
  EXPECT_EQ(needed(R"({"command":["python3","train.py"]})"), "train.py");
  EXPECT_EQ(needed(R"({"command":["sh","-c"],"args":["exec python3 -u train.py>log"]})"),
            "train.py")
      << "programs of a script are found by the PATH, too";
  EXPECT_EQ(needed(R"({"command":["./sub/run.sh"]})"), "./sub/run.sh");
  EXPECT_EQ(needed(R"({"command":["python3"]})"), "") << "a program is found by the PATH";
  EXPECT_EQ(needed(R"({"command":["cat","/train.py"]})"), "");
  EXPECT_EQ(needed(R"({"command":["python3","train.py"],"workingDir":"/srv"})"), "");
  EXPECT_EQ(needed("{}"), "");
}

TEST(PodUser, IsSaidUnlessHeWasAskedFor) {
  const OtherUser nobody{.name = "nobody", .folder = "/root"};
  EXPECT_EQ(remark_on(nobody), "pods run as nobody, not as root: --pod-user root runs them as you");
  EXPECT_EQ(remark_on({.name = "ann", .asked = true, .folder = "/root"}), "");
  const OtherUser outside{.name = "ann", .asked = true, .enters = false, .folder = "/root"};
  EXPECT_EQ(remark_on(outside),
            "pods run as ann, who cannot enter /root and works in his home or / instead: "
            "--pod-user root runs them as you");
  EXPECT_EQ(refusal_for(outside, "train.py"),
            "error: pods run as ann, who cannot enter /root, where train.py is\n"
            "  help: --pod-user root runs them as you; or run it in a folder that ann can enter\n");
}

TEST(PodUser, AServerSaysWhomItsPodsRunAs) {
  const agent::Identity root{.uid = 0, .pod_user = {}};
  const agent::Identity other{.uid = 0, .pod_user = {.uid = 4242424, .gid = 4242424, .groups = {}}};
  EXPECT_EQ(remark_on_server({.users = agent::UserRange{70000, 70999}}, other),
            "pods of each JobSet run as a user of their own, one of 70000-70999");
  EXPECT_EQ(remark_on_server({.user = "4242424"}, other), "all pods run as 4242424");
  EXPECT_EQ(remark_on_server({.one_user = true}, other), "all pods run as 4242424");
  EXPECT_EQ(remark_on_server({}, other),
            "all pods run as 4242424, for this user namespace lacks a range of users for JobSets; "
            "--pod-users FIRST-LAST names one");
  EXPECT_EQ(remark_on_server({.user = "root"}, root), "");
  EXPECT_THAT(remark_on_server({}, root), testing::StartsWith("all pods run as root, for this"))
      << "of a namespace that has nobody else";
  EXPECT_EQ(remark_on_server({}, {.uid = 1000, .pod_user = {.uid = 1000, .gid = 1, .groups = {}}}),
            "");
}

TEST(ShellWord, IsQuotedWhereAShellWouldTakeItApart) {
  EXPECT_EQ(shell_word("/srv/data-1"), "/srv/data-1");
  EXPECT_EQ(shell_word("my data"), "'my data'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace pod_user_test
}  // namespace muster::cli
