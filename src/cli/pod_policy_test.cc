#include "cli/pod_policy.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/node_flags.h"

namespace muster::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PodPolicy, WithoutFlagsLimitsProcessesAndAllowsTheUsersOwnPaths) {
  const auto policy = pod_policy({});
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->user, "");
  EXPECT_FALSE(policy->any_user);
  EXPECT_THAT(policy->host_paths, ElementsAre("/"));
  EXPECT_EQ(policy->processes, PodPolicy::kUsualProcesses);
  EXPECT_TRUE(policy->hide_gpus);
}

TEST(PodPolicy, IsWhatTheFlagsSay) {
  NodeFlags flags;
  flags.host_paths = {"/data", "/srv"};
  flags.pod_processes = 0;
  EXPECT_THAT(pod_policy(flags)->host_paths, ElementsAre("/data", "/srv"));
  EXPECT_EQ(pod_policy(flags)->processes, 0);
  flags.all_gpus = true;
  EXPECT_FALSE(pod_policy(flags)->hide_gpus);
  flags.host_paths = {"data"};
  EXPECT_EQ(pod_policy(flags).error().message, "--host-path data: it takes a path from the root");
  flags.host_paths = {};
  flags.pod_processes = -1;
  EXPECT_FALSE(pod_policy(flags));
}

TEST(PodPolicy, ARangeOfUsersHasTwoEndsAndNoRoot) {
  NodeFlags flags;
  EXPECT_FALSE(pod_policy(flags)->users);
  flags.pod_users = "70000-70999";
  ASSERT_TRUE(pod_policy(flags)->users);
  EXPECT_EQ(pod_policy(flags)->users->first, 70000u);
  EXPECT_EQ(pod_policy(flags)->users->last, 70999u);
  for (const char* wrong :
       {"70000", "70999-70000", "0-9", "a-b", "-", "1-4294967295", "1-99999999999"}) {
    flags.pod_users = wrong;
    ASSERT_FALSE(pod_policy(flags)) << wrong;
    EXPECT_THAT(pod_policy(flags).error().message, HasSubstr("it takes FIRST-LAST"));
  }
  flags.pod_users = "70000-70999";
  flags.pod_user = "nobody";
  EXPECT_EQ(pod_policy(flags).error().message, "--pod-users and --pod-user exclude each other");
}

TEST(PodPolicy, UsersOfJobSetsNeedRootAndAPlaceForClaims) {
  EXPECT_EQ(*users_under({}, "/none", "/none"), nullptr);
  const PodPolicy policy{.users = agent::UserRange{70000, 70999}};
  const auto users = users_under(policy, "/none", "");
  ASSERT_FALSE(users);
  EXPECT_EQ(users.error().message,
            ::geteuid() != 0 ? "--pod-users: only root can run pods as other users"
                             : "--pod-users: there is no folder for the claims of servers");
}

TEST(PodPolicy, NobodyIsRootWithoutBeingTold) {
  const auto usual = identity_under({});
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->uid, ::geteuid());
  if (::geteuid() != 0) {
    EXPECT_EQ(usual->pod_user.uid, ::geteuid());
    EXPECT_THAT(identity_under({.user = "root"}).error().message,
                HasSubstr("only root can run pods as another user"));
    return;
  }
  EXPECT_EQ(usual->pod_user.uid, 65534u);
  EXPECT_EQ(identity_under({.user = "root"})->pod_user.uid, 0u);
  EXPECT_EQ(identity_under({.user = "4242"})->pod_user.gid, 4242u);
}

TEST(PodPolicy, WhoCalledSudoIsKnownToRootOnly) {
  ::setenv("SUDO_UID", "1000", 1);
  EXPECT_EQ(sudo_caller(), ::geteuid() == 0 ? "1000" : "");
  ::setenv("SUDO_UID", "0", 1);
  EXPECT_EQ(sudo_caller(), "");
  ::unsetenv("SUDO_UID");
  EXPECT_EQ(sudo_caller(), "");
}

}  // namespace
}  // namespace muster::cli
