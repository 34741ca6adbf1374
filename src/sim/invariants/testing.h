// A rule that never finds anything proves nothing: each one is broken once in its test.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

#include "sim/invariants/invariants.h"
#include "sim/invariants/rules.h"

namespace muster::sim {

// Tells one rule what happens.
class RuleTest : public testing::Test {
 protected:
  explicit RuleTest(std::unique_ptr<Rule> rule) : invariants_(one(std::move(rule))) {}

  void took(const std::string& object, store::Event::Type type = store::Event::Type::kModified) {
    ++revision_;
    invariants_.took({.type = type,
                      .revision = revision_,
                      .object = std::make_shared<const store::Object>(object, revision_)});
  }
  const Violations& violations() const { return invariants_.violations(); }

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

 private:
  static std::vector<std::unique_ptr<Rule>> one(std::unique_ptr<Rule> rule) {
    std::vector<std::unique_ptr<Rule>> rules;
    rules.push_back(std::move(rule));
    return rules;
  }

  store::Revision revision_ = 0;
};

inline constexpr std::string_view kCompleteCondition =
    R"("conditions":[{"type":"Complete","status":"True"}])";

}  // namespace muster::sim
