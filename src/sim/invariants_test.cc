// A judge who never convicts proves nothing: each invariant is broken here once.
#include "sim/invariants.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace muster::sim {
namespace invariants_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class InvariantsTest : public testing::Test {
 protected:
  void took(const std::string& object, store::Event::Type type = store::Event::Type::kModified) {
    ++revision_;
    invariants_.took({.type = type,
                      .revision = revision_,
                      .object = std::make_shared<const store::Object>(object, revision_)});
  }
  const std::vector<std::string>& violations() const { return invariants_.violations(); }

  // Two replicated jobs, "a" before "b".
  static std::string set(std::string_view spec = "", std::string_view status = "") {
    return fmt::format(
        R"({{"kind":"JobSet","metadata":{{"namespace":"d","name":"s","uid":"u-s"}},"spec":{{"replicatedJobs":[
             {{"name":"a","replicas":1,"template":{{"spec":{{"parallelism":1}}}}}},
             {{"name":"b","replicas":1,"template":{{"spec":{{"parallelism":1}}}}{}}}]}},
             "status":{{{}}}}})",
        spec, status);
  }
  static std::string job(std::string_view replicated_job, std::string_view status,
                         int attempt = 0) {
    return fmt::format(
        R"({{"kind":"Job","metadata":{{"namespace":"d","name":"s-{0}-0","uid":"u-{0}-{2}",
             "labels":{{"jobset.sigs.k8s.io/replicatedjob-name":"{0}",
                        "jobset.sigs.k8s.io/restart-attempt":"{2}"}},
             "ownerReferences":[{{"kind":"JobSet","name":"s","uid":"u-s","controller":true}}]}},
             "spec":{{"parallelism":1}},"status":{{{1}}}}})",
        replicated_job, status, attempt);
  }
  static std::string pod(std::string_view name, std::string_view index, std::string_view phase,
                         std::string_view annotations = "", std::string_view status = "") {
    return fmt::format(
        R"({{"kind":"Pod","metadata":{{"namespace":"d","name":"{0}","uid":"u-{0}",
             "labels":{{"batch.kubernetes.io/job-completion-index":"{1}","jobset.sigs.k8s.io/jobset-uid":"u-s"}},
             "annotations":{{{3}}},
             "ownerReferences":[{{"kind":"Job","name":"j","uid":"u-j","controller":true}}]}},
             "status":{{"phase":"{2}"{4}}}}})",
        name, index, phase, annotations, status);
  }

  Invariants invariants_;
  store::Revision revision_ = 0;
};

constexpr std::string_view kDependsOnReady = R"(,"dependsOn":[{"name":"a","status":"Ready"}])";
constexpr std::string_view kDependsOnComplete =
    R"(,"dependsOn":[{"name":"a","status":"Complete"}])";
constexpr std::string_view kComplete = R"("conditions":[{"type":"Complete","status":"True"}])";

TEST_F(InvariantsTest, ADependentMayStartWhenItsDependencyHas) {
  took(set(kDependsOnReady));
  took(job("a", R"("ready":1)"));
  took(job("a", R"("ready":0)"));  // what was ready once has started
  took(job("b", ""));
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(InvariantsTest, ADependentThatStartsTooEarlyIsFound) {
  took(set(kDependsOnReady));
  took(job("a", ""));
  took(job("b", ""));
  EXPECT_THAT(violations(), ElementsAre("job s-b-0 began before a was ready"));
}

TEST_F(InvariantsTest, ReadyIsNotComplete) {
  took(set(kDependsOnComplete));
  took(job("a", R"("ready":1)"));
  took(job("b", ""));
  EXPECT_THAT(violations(), ElementsAre("job s-b-0 began before a was complete"));
}

TEST_F(InvariantsTest, EachAttemptHasItsOwnSequence) {
  took(set(kDependsOnComplete));
  took(job("a", kComplete));
  took(job("b", "", 1));
  EXPECT_THAT(violations(), ElementsAre("job s-b-0 began before a was complete"));
}

TEST_F(InvariantsTest, TheStartupOrderIsKept) {
  std::string in_order = set();
  in_order.replace(in_order.find(R"("replicatedJobs")"), 0,
                   R"("startupPolicy":{"startupPolicyOrder":"InOrder"},)");
  took(in_order);
  took(job("b", ""));
  EXPECT_THAT(violations(), ElementsAre("job s-b-0 began before a had started"));
}

TEST_F(InvariantsTest, AnEndIsForEver) {
  took(set("", R"("conditions":[{"type":"Completed","status":"True"}])"));
  took(set());
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("was Completed and is no longer")));
}

TEST_F(InvariantsTest, AFinishedJobStaysFinished) {
  took(set());
  took(job("a", kComplete));
  took(job("a", ""));
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("was finished and is no longer")));
}

TEST_F(InvariantsTest, RestartsAreCountedOneByOneAndWithinTheirLimit) {
  took(set("", R"("restarts":1)"));
  took(set("", R"("restarts":0)"));
  took(set("", R"("restarts":2)"));
  took(set("", R"("restarts":3,"restartsCountTowardsMax":1)"));
  EXPECT_THAT(violations(),
              ElementsAre(HasSubstr("restarts went back"), HasSubstr("restarts skipped an attempt"),
                          HasSubstr("1 counted restarts, 0 are allowed")));
}

TEST_F(InvariantsTest, AnIndexHasOneLivePod) {
  took(pod("p", "0", "Running"));
  took(pod("other", "1", "Running"));
  EXPECT_THAT(violations(), IsEmpty());
  took(pod("twin", "0", "Pending"));
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("2 pods of index 0 live at once")));
}

TEST_F(InvariantsTest, AnEndedOrDeletedPodMakesRoom) {
  took(pod("p", "0", "Running"));
  took(pod("p", "0", "Failed"));
  took(pod("q", "0", "Running"));
  took(pod("q", "0", "Running"), store::Event::Type::kDeleted);
  took(pod("r", "0", "Running"));
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(InvariantsTest, NobodyPassesABarrierBeforeAllHaveStarted) {
  constexpr std::string_view kBarrier = R"("muster.dev/barrier":"s-group-scheduling/started-0")";
  constexpr std::string_view kWaits =
      R"(,"initContainerStatuses":[{"name":"group-scheduling-init","state":{"running":{}}}])";
  std::string group = set();
  group.replace(group.find(R"("replicatedJobs")"), 0, R"("groupSchedulingConfig":{},)");
  took(group);
  took(pod("p", "0", "Pending", kBarrier, kWaits));
  EXPECT_THAT(violations(), IsEmpty());
  took(pod("p", "0", "Running", kBarrier));
  EXPECT_THAT(violations(),
              ElementsAre(HasSubstr("has passed the barrier s-group-scheduling/started-0 when 1 "
                                    "of 2 pods had started")));
}

TEST_F(InvariantsTest, NothingOutlivesItsOwner) {
  const auto orphan = std::make_shared<const store::Object>(job("a", ""), 1);
  const auto owner = std::make_shared<const store::Object>(set(), 2);
  invariants_.check_at_rest({orphan, owner});
  EXPECT_THAT(violations(), IsEmpty());
  invariants_.check_at_rest({orphan});
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("has outlived its owner")));
}

}  // namespace invariants_test
}  // namespace muster::sim
