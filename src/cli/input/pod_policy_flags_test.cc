#include "engine/pod_policy.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/input/node_flags.h"

namespace muster::cli {
namespace pod_policy_flags_test {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PodPolicy, WithoutFlagsLimitsProcessesAndAllowsTheUsersOwnPaths) {
  const auto policy = pod_policy({});
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->user, "");
  EXPECT_FALSE(policy->any_user);
  EXPECT_THAT(policy->host_paths, ElementsAre("/"));
  EXPECT_EQ(policy->processes, engine::PodPolicy::kUsualProcesses);
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
    EXPECT_THAT(pod_policy(flags).error().message, HasSubstr("it takes none or FIRST-LAST"));
  }
  flags.pod_users = "70000-70999";
  flags.pod_user = "nobody";
  EXPECT_EQ(pod_policy(flags).error().message, "--pod-users and --pod-user exclude each other");
  flags.pod_users = "none";
  EXPECT_TRUE(pod_policy(flags)) << "they say the same";
}

TEST(PodPolicy, AServerOfRootGivesEachJobSetAUserUnlessToldOtherwise) {
  const bool root = ::geteuid() == 0;
  const auto of_server = [](const NodeFlags& flags) {
    return engine::for_many(*pod_policy(flags)).users;
  };
  NodeFlags flags;
  ASSERT_EQ(of_server(flags).has_value(), root);
  EXPECT_FALSE(pod_policy(flags)->users) << "a run serves one caller";
  if (root) {
    EXPECT_EQ(of_server(flags)->first, engine::PodPolicy::kUsualUsers.first);
  }
  flags.pod_users = "70000-70999";
  EXPECT_EQ(of_server(flags)->first, 70000u);
  flags.pod_users = "none";
  EXPECT_FALSE(of_server(flags));
  flags.pod_users = "";
  flags.pod_user = "nobody";
  EXPECT_FALSE(of_server(flags));
}

// The reasons stand at kUsualUsers.
TEST(PodPolicy, TheUsualUsersAreNobodyElses) {
  constexpr auto kUsual = engine::PodPolicy::kUsualUsers;
  EXPECT_GT(kUsual.first, 65'535u) << "distributions, DynamicUser, nobody";
  EXPECT_GT(kUsual.first, 600'100'000u) << "SUB_UID_MAX";
  EXPECT_GT(kUsual.first, 1'879'048'191u) << "systemd-nspawn";
  EXPECT_GT(kUsual.first, 2'000'200'000u) << "ldap_idmap_range_max";
  EXPECT_LT(kUsual.last, 2'147'352'576u) << "systemd's foreign users, and then negative numbers";
  EXPECT_EQ(kUsual.last - kUsual.first, 65'535u);
}

TEST(PodPolicy, AJobSetLeavesRoomForOthers) {
  EXPECT_EQ(engine::half_of(32'768, 192'699), 16'384);
  EXPECT_EQ(engine::half_of(4'194'304, 192'699), 96'349);
  EXPECT_EQ(engine::half_of(0, 192'699), 0) << "not known: no bound";
  EXPECT_GT(engine::job_set_processes_under({}), 0);
  EXPECT_EQ(engine::job_set_processes_under({.job_set_processes = 7}), 7);
  EXPECT_EQ(engine::job_set_processes_under({.job_set_processes = 0}), 0);
  NodeFlags flags;
  flags.job_set_processes = 300;
  EXPECT_EQ(pod_policy(flags)->job_set_processes, 300);
  flags.job_set_processes = -2;
  EXPECT_FALSE(pod_policy(flags));
  EXPECT_FALSE(pod_policy({})->shared_tmp);
}

TEST(PodPolicy, UsersOfJobSetsNeedRootAndAPlaceForClaims) {
  EXPECT_EQ(*engine::users_under({}, {.data_dir = "/none", .lock_folder = "/none"}), nullptr);
  const engine::PodPolicy policy{.users = agent::UserRange{70000, 70999}};
  const auto users = engine::users_under(policy, {.data_dir = "/none", .lock_folder = ""});
  ASSERT_FALSE(users);
  EXPECT_THAT(
      users.error().message,
      HasSubstr(::geteuid() != 0 ? "--pod-users: only root can run pods as other users"
                                 : "--pod-users: there is no folder for the claims of servers"));
}

TEST(PodPolicy, NobodyIsRootWithoutBeingTold) {
  const auto usual = engine::identity_under({});
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->uid, ::geteuid());
  if (::geteuid() != 0) {
    EXPECT_EQ(usual->pod_user.uid, ::geteuid());
    EXPECT_THAT(engine::identity_under({.user = "root"}).error().message,
                HasSubstr("only root can run pods as another user"));
    return;
  }
  EXPECT_EQ(usual->pod_user.uid, 65534u);
  EXPECT_EQ(engine::identity_under({.user = "root"})->pod_user.uid, 0u);
  EXPECT_EQ(engine::identity_under({.user = "4242"})->pod_user.gid, 4242u);
}

TEST(PodPolicy, WhoCalledSudoIsKnownToRootOnly) {
  ::setenv("SUDO_UID", "1000", 1);
  EXPECT_EQ(engine::sudo_caller(), ::geteuid() == 0 ? "1000" : "");
  ::setenv("SUDO_UID", "0", 1);
  EXPECT_EQ(engine::sudo_caller(), "");
  ::unsetenv("SUDO_UID");
  EXPECT_EQ(engine::sudo_caller(), "");
}

}  // namespace pod_policy_flags_test
}  // namespace muster::cli
