// Admission reviews as an API server sends them.
#include "webhooks/review.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "json/patch.h"
#include "json/testing.h"

namespace muster::webhooks {
namespace review_test {

using json::IsJson;
using json::Tree;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kMutateJobSet = "/mutate-jobset-x-k8s-io-v1alpha2-jobset";
constexpr std::string_view kValidateJobSet = "/validate-jobset-x-k8s-io-v1alpha2-jobset";
constexpr std::string_view kMutatePod = "/mutate--v1-pod";
constexpr std::string_view kValidatePod = "/validate--v1-pod";

struct Request {
  std::string_view path;
  std::string_view operation = "CREATE";
  std::string object;
  std::string old = "null";
};

std::string review_of(const Request& request) {
  const Hook& hook = *find_hook(request.path);
  return fmt::format(
      R"({{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {{"uid": "u-1",
           "resource": {{"group": "{}", "version": "{}", "resource": "{}"}}, "namespace": "ns",
           "operation": "{}", "object": {}, "oldObject": {}}}}})",
      hook.group, hook.version, hook.plural, request.operation, request.object, request.old);
}

class Reviews : public testing::Test {
 protected:
  Result<std::string> send(std::string_view path, std::string_view body) {
    return answer_review(*find_hook(path), settings, knowledge, body, Time{});
  }
  // The response; checked to be an answer to the request.
  Tree ask(const Request& request) {
    const auto answer = send(request.path, review_of(request));
    MUSTER_ASSERT(answer.has_value(), "the review is well formed");
    const Tree review(*answer);
    EXPECT_EQ(review.root.get("kind").as_string(), "AdmissionReview");
    EXPECT_EQ(review.root.get("apiVersion").as_string(), "admission.k8s.io/v1");
    EXPECT_EQ(review.root.get({"response", "uid"}).as_string(), "u-1");
    return Tree(json::write(review.root.get("response")));
  }
  // The object as the API server would store it after the webhook.
  Tree mutated(const Request& request) {
    const Tree response = ask(request);
    Tree object(request.object);
    EXPECT_TRUE(response.root.get("allowed").as_bool());
    if (response.root.has("patch")) {
      EXPECT_EQ(response.root.get("patchType").as_string(), "JSONPatch");
      const Tree patch(*decode_base64(response.root.get("patch").as_string()));
      EXPECT_TRUE(json::apply_json_patch(object.root, patch.root));
    }
    return Tree(json::write(object.root));
  }

  Settings settings{.registry = api::Registry::builtin(), .gates = {}};
  Knowledge knowledge{api::Registry::builtin()};
};

std::string job_set(std::string_view more = "", std::string_view job = "") {
  return fmt::format(
      R"({{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {{"name": "js"}},
           "spec": {{{} "replicatedJobs": [{{"name": "w", "replicas": 1, {} "template": {{"spec": {{
           "template": {{"spec": {{"containers": [{{"name": "c", "image": "i"}}]}}}}}}}}}}]}}}})",
      more, job);
}

TEST_F(Reviews, AJobSetIsDefaulted) {
  const Tree stored = mutated({.path = kMutateJobSet, .object = job_set()});
  const json::Value spec = stored.root.get("spec");
  EXPECT_THAT(spec.get("successPolicy"), IsJson(R"({"operator": "All"})"));
  EXPECT_THAT(spec.get("startupPolicy"), IsJson(R"({"startupPolicyOrder": "AnyOrder"})"));
  EXPECT_THAT(spec.get("network"),
              IsJson(R"({"enableDNSHostnames": true, "publishNotReadyAddresses": true})"));
  const json::Value job = spec.get("replicatedJobs").item(0).get({"template", "spec"});
  EXPECT_EQ(job.get("completionMode").as_string(), "Indexed");
  EXPECT_EQ(job.get({"template", "spec", "restartPolicy"}).as_string(), "OnFailure");
}

TEST_F(Reviews, WhatNeedsNoDefaultsNeedsNoPatch) {
  const Tree full = mutated({.path = kMutateJobSet, .object = job_set()});
  const Tree response = ask({.path = kMutateJobSet, .object = json::write(full.root)});
  EXPECT_THAT(response.root, IsJson(R"({"uid": "u-1", "allowed": true})"));
}

TEST_F(Reviews, FieldsOfSwitchedOffFeaturesGoWithAWarning) {
  ASSERT_TRUE(settings.gates.set("GangConfig=false"));
  const Request request{.path = kMutateJobSet,
                        .object = job_set(R"("gangConfig": {"gangMode": "Gang"},)")};
  EXPECT_FALSE(mutated(request).root.get("spec").has("gangConfig"));
  EXPECT_THAT(std::string(ask(request).root.get("warnings").item(0).as_string()),
              HasSubstr("spec.gangConfig: dropped"));
}

TEST_F(Reviews, FieldsOfSwitchedOffFeaturesAreNeitherAddedNorTakenAwayByAnUpdate) {
  ASSERT_TRUE(settings.gates.set("GroupScheduling=false"));
  const std::string with = job_set(R"("groupSchedulingConfig": {},)");
  const auto updated = [&](std::string old) {
    return mutated(
        {.path = kMutateJobSet, .operation = "UPDATE", .object = with, .old = std::move(old)});
  };
  EXPECT_FALSE(updated(job_set()).root.get("spec").has("groupSchedulingConfig"));
  EXPECT_TRUE(updated(with).root.get("spec").has("groupSchedulingConfig"));
  EXPECT_TRUE(updated(with).root.get("spec").has("successPolicy")) << "as on create";
}

TEST_F(Reviews, QueuesBelongToWhoeverServesThem) {
  Request request{.path = kMutateJobSet, .object = job_set()};
  request.object.replace(request.object.find(R"("name": "js")"), 12,
                         R"("name": "js", "labels": {"kueue.x-k8s.io/queue-name": "q"})");
  EXPECT_FALSE(mutated(request).root.get("spec").has("suspend"));
  EXPECT_THAT(knowledge.take_questions(), IsEmpty());
  settings.queueing = true;
  EXPECT_TRUE(mutated(request).root.get({"spec", "suspend"}).as_bool());
}

TEST_F(Reviews, AllFaultsOfAJobSetAreTold) {
  const Tree response =
      ask({.path = kValidateJobSet,
           .object = job_set(R"("successPolicy": {"operator": "All", "targetReplicatedJobs": ["x"]},
                            "coordinator": {"replicatedJob": "y"},)")});
  EXPECT_FALSE(response.root.get("allowed").as_bool());
  const json::Value status = response.root.get("status");
  EXPECT_EQ(status.get("code").as_int(), 422);
  EXPECT_EQ(status.get("reason").as_string(), "Invalid");
  EXPECT_GE(status.get({"details", "causes"}).size(), 2u);
  const std::string message(status.get("message").as_string());
  EXPECT_THAT(message, HasSubstr(R"(JobSet.jobset.x-k8s.io "js" is invalid: [)"));
  EXPECT_THAT(message, HasSubstr("invalid replicatedJob name 'x' does not appear"));
  EXPECT_THAT(message, HasSubstr("coordinator replicatedJob y does not exist"));
}

TEST_F(Reviews, AnUpdateIsComparedWithWhatWas) {
  const std::string before = job_set("", R"("groupName": "a",)");
  EXPECT_TRUE(ask({.path = kValidateJobSet,
                   .operation = "UPDATE",
                   .object = job_set(R"("suspend": true,)", R"("groupName": "a",)"),
                   .old = before})
                  .root.get("allowed")
                  .as_bool());
  const Tree refused = ask({.path = kValidateJobSet,
                            .operation = "UPDATE",
                            .object = job_set("", R"("groupName": "b",)"),
                            .old = before});
  EXPECT_THAT(std::string(refused.root.get({"status", "message"}).as_string()),
              HasSubstr("spec.replicatedJobs: Invalid value"));
}

// What a plain `kubectl apply` of the same file sends.
TEST_F(Reviews, AnUnchangedFileMayBeAppliedAgain) {
  const std::string stored =
      json::write(mutated({.path = kMutateJobSet, .object = job_set()}).root);
  const std::string again = json::write(
      mutated({.path = kMutateJobSet, .operation = "UPDATE", .object = job_set(), .old = stored})
          .root);
  EXPECT_EQ(again, stored);
  EXPECT_TRUE(ask({.path = kValidateJobSet, .operation = "UPDATE", .object = again, .old = stored})
                  .root.get("allowed")
                  .as_bool());
}

TEST_F(Reviews, ABarrierOrAGangNeitherComesLaterNorGoes) {
  for (const std::string_view field :
       {R"("groupSchedulingConfig": {},)", R"("gangConfig": {"gangMode": "Gang"},)"}) {
    const auto is_allowed = [&](std::string_view old, std::string_view now) {
      return ask({.path = kValidateJobSet,
                  .operation = "UPDATE",
                  .object = job_set(now),
                  .old = job_set(old)})
          .root.get("allowed")
          .as_bool();
    };
    EXPECT_TRUE(is_allowed(field, field));
    EXPECT_FALSE(is_allowed(field, "")) << field;
    EXPECT_FALSE(is_allowed("", field)) << field;
  }
}

std::string pod(std::string_view index, std::string_view spec = "") {
  return fmt::format(
      R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "js-w-0-{0}-abcde",
           "labels": {{"jobset.sigs.k8s.io/jobset-name": "js",
                       "jobset.sigs.k8s.io/replicatedjob-name": "w",
                       "jobset.sigs.k8s.io/job-index": "0", "jobset.sigs.k8s.io/job-key": "k"}},
           "annotations": {{"jobset.sigs.k8s.io/jobset-name": "js",
                            "alpha.jobset.sigs.k8s.io/exclusive-topology": "rack",
                            "batch.kubernetes.io/job-completion-index": "{0}"}}}},
          "spec": {{{1} "containers": [{{"name": "c", "image": "i"}}]}}}})",
      index, spec);
}

// A follower's review asks for its leader, then for the leader's node; then it is decided.
TEST_F(Reviews, AskForWhatTheyMustKnow) {
  const Request request{.path = kMutatePod, .object = pod("1")};
  ask(request);
  std::vector<Question> questions = knowledge.take_questions();
  ASSERT_EQ(questions.size(), 1u);
  EXPECT_EQ(questions[0].resource->plural, "pods");
  EXPECT_EQ(questions[0].ns, "ns");
  EXPECT_EQ(questions[0].labels,
            "jobset.sigs.k8s.io/job-key=k,batch.kubernetes.io/job-completion-index=0");
  knowledge.answer(questions[0], {pod("0", R"("nodeName": "n",)")});

  ask(request);
  questions = knowledge.take_questions();
  ASSERT_EQ(questions.size(), 1u);
  EXPECT_EQ(questions[0].resource->plural, "nodes");
  EXPECT_EQ(questions[0].name, "n");
  knowledge.answer(questions[0], {R"({"metadata": {"name": "n", "labels": {"rack": "r"}}})"});

  EXPECT_THAT(mutated(request).root.get({"spec", "nodeSelector"}), IsJson(R"({"rack": "r"})"));
  EXPECT_THAT(knowledge.take_questions(), IsEmpty());
}

TEST_F(Reviews, AFollowerTooEarlyIsForbidden) {
  const Request request{.path = kValidatePod, .object = pod("1")};
  ask(request);
  for (const Question& question : knowledge.take_questions()) knowledge.answer(question, {});
  const Tree response = ask(request);
  EXPECT_THAT(knowledge.take_questions(), IsEmpty());
  EXPECT_EQ(response.root.get({"status", "code"}).as_int(), 403);
  EXPECT_EQ(response.root.get({"status", "reason"}).as_string(), "Forbidden");
  EXPECT_THAT(std::string(response.root.get({"status", "message"}).as_string()),
              HasSubstr("expected 1 leader pod (js-w-0-0), but got 0"));
}

TEST_F(Reviews, WhatCouldNotBeSettledIsDenied) {
  const auto answer = deny_review(review_of({.path = kMutatePod, .object = pod("1")}),
                                  {.code = Code::kInternal, .message = "no answer"});
  ASSERT_TRUE(answer);
  const Tree review(*answer);
  EXPECT_FALSE(review.root.get({"response", "allowed"}).as_bool());
  EXPECT_EQ(review.root.get({"response", "status", "code"}).as_int(), 500);
}

TEST_F(Reviews, AnythingElseIsRefused) {
  const std::string good = review_of({.path = kMutateJobSet, .object = job_set()});
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const std::vector<std::string> bodies = {
      "",
      "nonsense",
      "[]",
      "{}",
      changed("admission.k8s.io/v1", "admission.k8s.io/v1beta1"),
      changed(R"("uid": "u-1")", R"("uid": 1)"),
      changed(R"("resource": "jobsets")", R"("resource": "pods")"),
      changed("CREATE", "DELETE"),
      changed("CREATE", "UPDATE"),  // not what the mutating webhook is for
  };
  for (const std::string& body : bodies) {
    const auto answer = send(kMutateJobSet, body);
    ASSERT_FALSE(answer) << body;
    EXPECT_EQ(answer.error().code, Code::kBadRequest) << body;
  }
}

// Types that no API server would let through end nothing but the request.
TEST_F(Reviews, WrongTypesDoNoHarm) {
  std::string text = pod("0");
  text.replace(text.find(R"("containers")"), 0, R"("affinity": [],)");
  const Tree pod_response = ask({.path = kMutatePod, .object = text});
  EXPECT_EQ(pod_response.root.get({"status", "code"}).as_int(), 400);
  const Tree set_response =
      ask({.path = kValidateJobSet, .object = R"({"metadata": {"name": "js"}, "spec": 1})"});
  EXPECT_EQ(set_response.root.get({"status", "code"}).as_int(), 422);
  EXPECT_TRUE(
      ask({.path = kMutateJobSet, .object = R"({"spec": 1})"}).root.get("allowed").as_bool());
}

}  // namespace review_test
}  // namespace muster::webhooks
