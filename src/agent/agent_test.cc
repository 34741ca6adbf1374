// Pods on a node, from their binding to the last trace of them.
#include "agent/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <thread>

#include "agent/testing.h"

namespace muster::agent {
namespace agent_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class AgentTest : public ::testing::Test {
 protected:
  AgentTest() { node_.start_agent(); }
  testing::TestNode node_;
};

constexpr std::string_view kOne = R"({"restartPolicy":"Never","containers":[{"name":"a"}]})";

TEST_F(AgentTest, APodRunsAndSucceeds) {
  node_.make_pod("p", kOne);
  EXPECT_EQ(node_.phase("p"), "Running");
  EXPECT_EQ(node_.pod("p").get({"status", "podIP"}).as_string(), "127.9.0.1");
  EXPECT_EQ(node_.pod("p").get({"status", "hostIP"}).as_string(), "127.0.0.1");
  node_.ends("p", "a", 0);
  EXPECT_EQ(node_.phase("p"), "Succeeded");
  const json::Value end = node_.container("p", "a").get({"state", "terminated"});
  EXPECT_EQ(end.get("reason").as_string(), "Completed");
  EXPECT_TRUE(node_.machine.pods().empty()) << "the runtime has forgotten it";
}

TEST_F(AgentTest, ItIsToldWithThreeWritesAtMost) {
  node_.requests.clear();
  node_.machine.set_programs(
      [](const runtime::RunSpec&) { return runtime::FakeProgram{.lasts = seconds(1)}; });
  node_.make_pod("p", kOne);
  node_.pass(seconds(2));
  EXPECT_EQ(node_.phase("p"), "Succeeded");
  EXPECT_LE(node_.requests["PATCH"], 2) << "running, finished";
}

TEST_F(AgentTest, EventsNameTheContainer) {
  node_.make_pod("p", kOne);
  EXPECT_THAT(node_.events("p"), Contains("Normal Started: Container started"));
  EXPECT_THAT(node_.events("p"), Contains("Normal Created: Container created"));
}

TEST_F(AgentTest, AnImageThatIsIgnoredIsToldUnlessItSaysNone) {
  node_.make_pod("named", R"({"containers":[{"name":"main","image":"a:1"}]})");
  EXPECT_THAT(node_.events("named"), Contains(HasSubstr("ImageIgnored: image \"a:1\" is ignored")));
  node_.make_pod("none", R"({"containers":[{"name":"main","image":"none"}]})");
  EXPECT_THAT(node_.events("none"), Contains(HasSubstr("Started")));
  EXPECT_THAT(node_.events("none"), Not(Contains(HasSubstr("ImageIgnored"))));
}

TEST_F(AgentTest, AProgramThatCannotBeStartedFailsThePodWithTheCause) {
  node_.machine.set_programs([](const runtime::RunSpec&) {
    return runtime::FakeProgram{.start_error = "x: no such file or directory"};
  });
  node_.make_pod("p", kOne);
  EXPECT_EQ(node_.phase("p"), "Failed");
  const json::Value end = node_.container("p", "a").get({"state", "terminated"});
  EXPECT_EQ(end.get("reason").as_string(), "StartError");
  EXPECT_EQ(end.get("exitCode").as_int(), 128);
  EXPECT_EQ(end.get("message").as_string(), "x: no such file or directory");
  EXPECT_THAT(node_.events("p"), Contains("Warning Failed: Error: x: no such file or directory"));
}

TEST_F(AgentTest, AFailureOverAPortNamesThePodThatHasIt) {
  node_.options.port_users = [](int port) -> std::vector<PortUser> {
    if (port != 8080) return {};
    return {{.holder = {.socket = {.address = "0.0.0.0", .any_address = true},
                        .pid = 7,
                        .process = "nginx"},
             .pod = "team/web-0"}};
  };
  node_.start_agent();
  node_.make_pod("p", R"({"restartPolicy":"Never","containers":[
      {"name":"c","ports":[{"containerPort":8080}]}]})");
  node_.ends("p", "c", 1);
  const std::string taken = "port 8080 is taken by pod team/web-0 (nginx, pid 7)";
  EXPECT_EQ(node_.container("p", "c").get({"state", "terminated", "message"}).as_string(), taken);
  EXPECT_THAT(node_.events("p"), Contains("Warning PortTaken: " + taken));
}

TEST_F(AgentTest, AContainerThatWasStoppedDidNotFailOverAPort) {
  node_.options.port_users = [](int) -> std::vector<PortUser> {
    return {{.holder = {.socket = {.any_address = true}, .pid = 7, .process = "nginx"}}};
  };
  node_.start_agent();
  node_.make_pod("p", R"({"containers":[{"name":"c","ports":[{"containerPort":8080}]}]})");
  node_.delete_pod("p", 30);
  node_.ends("p", "c", 143);
  EXPECT_THAT(node_.events("p"), Not(Contains(HasSubstr("PortTaken"))));
}

TEST_F(AgentTest, DeletionStopsTellsTheEndAndRemovesTheObject) {
  node_.make_pod("p", kOne);
  node_.machine.set_programs({});
  const auto id = node_.run("p", "a");
  node_.delete_pod("p", 30);
  EXPECT_TRUE(node_.pod("p").is_null());
  EXPECT_TRUE(node_.machine.pods().empty());
  EXPECT_THAT(node_.events("p"), Contains("Normal Killing: Stopping container a"));
}

TEST_F(AgentTest, WhoDoesNotListenToSigtermIsKilledWhenItsGraceIsOver) {
  node_.machine.set_programs(
      [](const runtime::RunSpec&) { return runtime::FakeProgram{.ends_on_sigterm = false}; });
  node_.make_pod("p", kOne);
  node_.delete_pod("p", 30);
  EXPECT_FALSE(node_.pod("p").is_null());
  EXPECT_TRUE(node_.runs("p", "a"));
  node_.pass(seconds(31));
  EXPECT_TRUE(node_.pod("p").is_null());
}

TEST_F(AgentTest, ForcedDeletionStillEndsTheProcesses) {
  node_.make_pod("p", kOne);
  const auto id = node_.run("p", "a");
  node_.delete_pod("p", 0);
  EXPECT_TRUE(node_.pod("p").is_null());
  node_.pass(seconds(31));
  EXPECT_TRUE(node_.machine.pods().empty());
}

TEST_F(AgentTest, AMissingConfigMapHoldsThePodUntilItAppears) {
  node_.make_pod("p", R"({"containers":[{"name":"a","env":[{"name":"X","valueFrom":
      {"configMapKeyRef":{"name":"c","key":"k"}}}]}]})");
  const json::Value waiting = node_.container("p", "a").get({"state", "waiting"});
  EXPECT_EQ(waiting.get("reason").as_string(), "CreateContainerConfigError");
  EXPECT_EQ(waiting.get("message").as_string(), "configmap \"c\" not found");
  node_.make_config_map("c", R"({"k":"v"})");
  EXPECT_TRUE(node_.runs("p", "a")) << "at once, without waiting for the next try";
}

TEST_F(AgentTest, AVolumeOfAMissingConfigMapIsAFailedMount) {
  node_.make_pod("p",
                 R"({"containers":[{"name":"a","volumeMounts":[{"name":"v","mountPath":"/v"}]}],
                          "volumes":[{"name":"v","configMap":{"name":"c"}}]})");
  EXPECT_THAT(node_.events("p"), Contains(HasSubstr("FailedMount")));
  EXPECT_EQ(node_.phase("p"), "Pending");
  node_.make_config_map("c", R"({"k":"v"})");
  EXPECT_TRUE(node_.runs("p", "a"));
}

TEST_F(AgentTest, CrashLoopIsRestartedAfterItsBackOff) {
  node_.make_pod("p", R"({"containers":[{"name":"a"}]})");
  node_.ends("p", "a", 1);
  node_.ends("p", "a", 1, 1);
  EXPECT_EQ(node_.container("p", "a").get({"state", "waiting", "reason"}).as_string(),
            "CrashLoopBackOff");
  node_.pass(seconds(10));
  EXPECT_TRUE(node_.runs("p", "a", 2));
  EXPECT_EQ(node_.container("p", "a").get("restartCount").as_int(), 2);
}

TEST_F(AgentTest, PodsThatDoNotFitAreRejected) {
  node_.make_pod("p", R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"3"}}}]})");
  node_.make_pod("q", R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"2"}}}]})");
  EXPECT_EQ(node_.phase("q"), "Failed");
  EXPECT_EQ(node_.pod("q").get({"status", "reason"}).as_string(), "OutOfcpu");
  EXPECT_EQ(node_.pod("q").get({"status", "message"}).as_string(),
            "Pod was rejected: Node didn't have enough resource: cpu, requested: 2000, used: 3000, "
            "capacity: 4000");
  node_.delete_pod("p", 1);
  node_.make_pod("r", R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"2"}}}]})");
  EXPECT_EQ(node_.phase("r"), "Running") << "room is free again";
}

TEST_F(AgentTest, TheNodeIsThereWithItsLease) {
  const auto& nodes = *api::Registry::builtin().find("", "v1", "nodes");
  const json::Value node = node_.object(nodes, "", "here");
  EXPECT_EQ(node.get({"status", "capacity", "cpu"}).as_string(), "4");
  EXPECT_EQ(node.get({"metadata", "labels", "kubernetes.io/hostname"}).as_string(), "here");
  const auto& leases = *api::Registry::builtin().find("coordination.k8s.io", "v1", "leases");
  const auto renewed = [&] {
    return std::string(
        node_.object(leases, "kube-node-lease", "here").get({"spec", "renewTime"}).as_string());
  };
  const std::string first = renewed();
  EXPECT_FALSE(first.empty());
  node_.pass(seconds(11));
  EXPECT_NE(renewed(), first);
}

TEST_F(AgentTest, ANodeThatWasTakenForDeadSaysThatItIsNot) {
  const auto& nodes = *api::Registry::builtin().find("", "v1", "nodes");
  const auto set_ready = [&](std::string_view status) {
    static_cast<void>(node_.send(
        {.verb = client::Verb::kPatch,
         .resource = &nodes,
         .name = "here",
         .subresource = "status",
         .body = fmt::format(R"({{"status":{{"conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
                             status),
         .patch_type = client::PatchType::kStrategic}));
  };
  set_ready("Unknown");
  node_.pass(seconds(11));
  const json::Value conditions = node_.object(nodes, "", "here").get({"status", "conditions"});
  const auto ready = std::ranges::find_if(
      conditions.items(), [](json::Value each) { return each.get("type").as_string() == "Ready"; });
  EXPECT_EQ(ready->get("status").as_string(), "True");
}

// Agents that come and go (pod-lifecycle 9).

TEST_F(AgentTest, TheNextAgentAdoptsWhatRuns) {
  node_.make_pod("p", kOne);
  const std::string id(node_.container("p", "a").get("containerID").as_string());
  node_.stop_agent();
  node_.pass(seconds(60));
  node_.start_agent();
  EXPECT_TRUE(node_.runs("p", "a"));
  EXPECT_EQ(node_.container("p", "a").get("containerID").as_string(), id);
  EXPECT_EQ(node_.machine.pods().at(node_.uid("p")).runs.size(), 1u) << "nothing was restarted";
  node_.ends("p", "a", 0);
  EXPECT_EQ(node_.phase("p"), "Succeeded");
}

TEST_F(AgentTest, AnEndThatNobodySawIsReportedByTheNextAgent) {
  node_.make_pod("p", kOne);
  node_.stop_agent();
  node_.machine.end(node_.run("p", "a"), {.code = 7});
  node_.start_agent();
  EXPECT_EQ(node_.phase("p"), "Failed");
  EXPECT_EQ(node_.container("p", "a").get({"state", "terminated", "exitCode"}).as_int(), 7);
}

TEST_F(AgentTest, ProcessesWhosePodIsGoneAreEnded) {
  node_.make_pod("p", kOne);
  const auto id = node_.run("p", "a");
  node_.stop_agent();
  node_.delete_pod("p", 0);
  EXPECT_TRUE(node_.pod("p").is_null());
  node_.start_agent();
  EXPECT_TRUE(node_.machine.pods().empty());
}

TEST_F(AgentTest, APodThatWasDeletedMeanwhileIsStopped) {
  node_.make_pod("p", kOne);
  node_.stop_agent();
  node_.delete_pod("p", 30);
  EXPECT_FALSE(node_.pod("p").is_null());
  node_.start_agent();
  EXPECT_TRUE(node_.pod("p").is_null());
}

class ClaimDataTest : public AgentTest {
 protected:
  // A claim with data of an earlier pod; where they are.
  std::string make_claim(std::string_view name) {
    node_.post(fmt::format(R"({{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":)"
                           R"({{"name":"{}"}},"spec":{{"accessModes":["ReadWriteOnce"],)"
                           R"("resources":{{"requests":{{"storage":"1Gi"}}}}}}}})",
                           name));
    node_.settle();
    const auto uid = node_.object(claims_, "default", name).get({"metadata", "uid"}).as_string();
    return make_data("default", fmt::format("{}-{}", name, uid));
  }
  std::string make_data(std::string_view ns, std::string_view folder) {
    const std::string made = fmt::format("{}/claims/{}/{}", node_.directory, ns, folder);
    std::filesystem::create_directories(made + "/models");
    return made;
  }
  void delete_claim(std::string_view name) {
    // Its finalizer stays for a pod that uses it, and there is none.
    for (const auto verb : {client::Verb::kPatch, client::Verb::kDelete}) {
      const bool patch = verb == client::Verb::kPatch;
      EXPECT_TRUE(node_.send({.verb = verb,
                              .resource = &claims_,
                              .ns = "default",
                              .name = std::string(name),
                              .body = patch ? R"({"metadata":{"finalizers":null}})" : ""}));
    }
    node_.settle();
    EXPECT_TRUE(node_.object(claims_, "default", name).is_null());
  }
  // They go on a thread of their own.
  static bool goes(const std::string& folder) {
    const auto late = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::filesystem::exists(folder)) {
      if (std::chrono::steady_clock::now() > late) return false;
      std::this_thread::yield();
    }
    return true;
  }

  const api::Resource& claims_ = *api::Registry::builtin().find("", "v1", "persistentvolumeclaims");
};

TEST_F(ClaimDataTest, GoWithTheirClaimAlone) {
  const std::string kept = make_claim("a"), removed = make_claim("b");
  const std::string unknown = make_data("default", "c-00000000-0000-0000-0000-000000000001");
  delete_claim("b");
  EXPECT_TRUE(goes(removed));
  EXPECT_TRUE(std::filesystem::exists(kept));
  EXPECT_TRUE(std::filesystem::exists(unknown)) << "nobody looks at others";
}

TEST_F(ClaimDataTest, AreRemovedByTheNextAgentIfTheirClaimIsGone) {
  const std::string kept = make_claim("a"), removed = make_claim("b");
  const std::string other = make_data("gone", "c-00000000-0000-0000-0000-000000000001");
  node_.stop_agent();
  delete_claim("b");
  node_.start_agent();
  EXPECT_TRUE(goes(removed));
  EXPECT_TRUE(goes(std::filesystem::path(other).parent_path()));
  EXPECT_TRUE(std::filesystem::exists(kept));
}

TEST_F(AgentTest, EverythingCanBeKilledAtOnce) {
  node_.make_pod("p", R"({"restartPolicy":"Always","containers":[{"name":"a"}]})");
  node_.make_pod("q", kOne);
  bool done = false;
  node_.agent->kill_everything([&] { done = true; });
  node_.settle();
  EXPECT_TRUE(done);
  EXPECT_TRUE(node_.machine.pods().empty()) << "and nothing was started again";
}

// KEP-498.

constexpr std::string_view kMember = R"({"restartPolicy":"Never",
    "initContainers":[{"name":"group-scheduling-init"}],"containers":[{"name":"a"}]})";
constexpr std::string_view kMeet =
    R"({"muster.dev/barrier":"js-group-scheduling/started-0","muster.dev/barrier-size":"2",
        "muster.dev/barrier-timeout":"60"})";

TEST_F(AgentTest, AGangIsHeldUntilItsConfigMapSaysGo) {
  node_.make_config_map("js-group-scheduling", "{}");
  node_.make_pod("p", kMember, "here", kMeet);
  node_.make_pod("q", kMember, "here", kMeet);
  EXPECT_TRUE(node_.container("p", "group-scheduling-init").get({"state", "running"}).is_object());
  EXPECT_FALSE(node_.runs("p", "a"));
  node_.patch_config_map("js-group-scheduling", R"({"started-0":"2"})");
  node_.machine.look_at_gates();
  node_.settle();
  EXPECT_TRUE(node_.runs("p", "a"));
  EXPECT_TRUE(node_.runs("q", "a"));
  EXPECT_EQ(node_.phase("q"), "Running");
}

TEST_F(AgentTest, AGangAlsoWaitsUntilTheNameOfItsCoordinatorIsKnown) {
  node_.make_config_map("js-group-scheduling", R"({"started-0":"1"})");
  node_.make_pod("p",
                 R"({"restartPolicy":"Never","initContainers":[{"name":"group-scheduling-init",
                     "env":[{"name":"COORDINATOR","value":"js-c-0-0.js"}]}],
                     "containers":[{"name":"a"}]})",
                 "here", kMeet);
  EXPECT_FALSE(node_.runs("p", "a"));
  node_.make_pod("c", R"({"hostname":"js-c-0-0","subdomain":"js","containers":[{"name":"a"}]})");
  node_.machine.look_at_gates();
  node_.settle();
  EXPECT_TRUE(node_.runs("p", "a"));
}

TEST_F(AgentTest, TheNameOfACoordinatorThatHasEndedIsNotWaitedFor) {
  node_.make_config_map("js-group-scheduling", R"({"started-0":"1"})");
  node_.make_pod("p",
                 R"({"restartPolicy":"Never","initContainers":[{"name":"group-scheduling-init",
                     "env":[{"name":"COORDINATOR","value":"js-c-0-0.js"}]}],
                     "containers":[{"name":"a"}]})",
                 "here", kMeet);
  EXPECT_FALSE(node_.runs("p", "a"));
  node_.patch_config_map("js-group-scheduling", R"({"started-0-coordinator-ended":"true"})");
  node_.machine.look_at_gates();
  node_.settle();
  EXPECT_TRUE(node_.runs("p", "a"));
}

TEST_F(AgentTest, AGangThatIsNotCompleteInTimeFailsAndSaysHowMany) {
  node_.make_config_map("js-group-scheduling", "{}");
  node_.make_pod("p", kMember, "here", kMeet);
  node_.pass(seconds(61));
  EXPECT_EQ(node_.phase("p"), "Failed");
  const json::Value end =
      node_.container("p", "group-scheduling-init").get({"state", "terminated"});
  EXPECT_THAT(std::string(end.get("message").as_string()), HasSubstr("1 of 2 pods had started"));
  EXPECT_TRUE(node_.machine.pods().empty());
}

TEST_F(AgentTest, AGangThatIsNotCompleteInTimeNamesWhatTheControllerMissed) {
  node_.make_config_map("js-group-scheduling", "{}");
  node_.make_pod("p", kMember, "here", kMeet);
  node_.patch_config_map("js-group-scheduling",
                         R"({"progress-0":"1","missing-0":"1 of js-w-1","missing-1":"another"})");
  node_.pass(seconds(61));
  EXPECT_EQ(node_.container("p", "group-scheduling-init")
                .get({"state", "terminated", "message"})
                .as_string(),
            "the group did not start within 60 s: 1 of 2 pods had started; missing: 1 of js-w-1");
}

TEST_F(AgentTest, AGangThatWaitsIsAdoptedAndLetGoByTheNextAgent) {
  node_.make_config_map("js-group-scheduling", "{}");
  node_.make_pod("p", kMember, "here", kMeet);
  node_.stop_agent();
  node_.patch_config_map("js-group-scheduling", R"({"started-0":"2"})");
  node_.start_agent();
  node_.machine.look_at_gates();
  node_.settle();
  EXPECT_TRUE(node_.runs("p", "a"));
  EXPECT_EQ(node_.machine.pods().at(node_.uid("p")).runs.size(), 1u) << "it was held all the time";
  EXPECT_EQ(node_.container("p", "group-scheduling-init").get("restartCount").as_int(), 0);
  node_.ends("p", "a", 0);
  EXPECT_TRUE(std::filesystem::is_empty(node_.directory + "/gates")) << "the gate goes with them";
}

TEST_F(AgentTest, AGateThatCannotBeOpenedIsToldAndTriedAgain) {
  node_.make_config_map("js-group-scheduling", "{}");
  node_.make_pod("p", kMember, "here", kMeet);
  const std::filesystem::path gate =
      std::filesystem::directory_iterator(node_.directory + "/gates")->path();
  const std::string aside = node_.directory + "/aside";
  std::filesystem::rename(gate, aside);
  node_.patch_config_map("js-group-scheduling", R"({"started-0":"2"})");
  node_.pass(seconds(10));
  EXPECT_FALSE(node_.runs("p", "a"));
  EXPECT_THAT(node_.events("p"), Contains(HasSubstr("Warning Failed: Error: " + gate.string())));
  std::filesystem::rename(aside, gate);
  node_.pass(seconds(20));
  node_.machine.look_at_gates();
  node_.settle();
  EXPECT_TRUE(node_.runs("p", "a"));
  EXPECT_EQ(node_.phase("p"), "Running");
}

// Several nodes on one machine.

TEST(Nodes, AreCarvedOutOfOneMachineWithTheirGpus) {
  testing::TestNode node;
  node.options.nodes.count = 2;
  node.options.facts.gpus = {"0", "1", "2", "3"};
  node.start_agent();
  constexpr std::string_view kGpu =
      R"({"containers":[{"name":"a","resources":{"limits":{"nvidia.com/gpu":"1"}}}]})";
  node.make_pod("p", kGpu, "node-1");
  node.make_pod("q", kGpu, "node-1");
  const auto devices = [&](std::string_view pod) {
    for (const std::string& variable : node.machine.find(node.run(pod, "a"))->spec.environment)
      if (variable.starts_with("CUDA_VISIBLE_DEVICES=")) return variable;
    return std::string();
  };
  EXPECT_EQ(devices("p"), "CUDA_VISIBLE_DEVICES=2");
  EXPECT_EQ(devices("q"), "CUDA_VISIBLE_DEVICES=3");
  node.make_pod("r", kGpu, "node-1");
  EXPECT_EQ(node.pod("r").get({"status", "reason"}).as_string(), "OutOfnvidia.com/gpu");
  node.start_agent();
  node.delete_pod("p", 1);
  node.make_pod("s", kGpu, "node-1");
  EXPECT_EQ(devices("s"), "CUDA_VISIBLE_DEVICES=2") << "also after the agent was started again";
}

TEST(Nodes, NothingRunsWithDevicesThatTheNextAgentWouldNotKnowOf) {
  testing::TestNode node;
  node.options.facts.gpus = {"0"};
  node.make_pod("p",
                R"({"containers":[{"name":"a","resources":{"limits":{"nvidia.com/gpu":"1"}}}]})");
  const std::string note = node.directory + "/pods/" + node.uid("p") + "/devices";
  std::filesystem::create_directories(note);  // in the way of the file
  node.start_agent();
  EXPECT_FALSE(node.runs("p", "a"));
  EXPECT_THAT(node.events("p"), Contains("Warning FailedMount: cannot write " + note));
  std::filesystem::remove(note);
  node.pass(seconds(1));
  EXPECT_TRUE(node.runs("p", "a"));
  EXPECT_THAT(read_devices(node.directory + "/pods/" + node.uid("p")), ElementsAre("0"));
}

}  // namespace agent_test
}  // namespace muster::agent
