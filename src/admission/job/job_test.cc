// Jobs that are created, changed and reported on: the rules that recorded answers do not show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/testing.h"

namespace muster::admission {
namespace job_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class JobRules : public testing::Test {
 protected:
  // `spec`: members in JSON.
  Outcome create(std::string_view spec = "", std::string_view name = "j") const {
    Outcome made = world.create(
        "batch/v1", "Job",
        fmt::format(R"({{"metadata": {{"name": "{}"}}, "spec": {{{}{}"template": {{"spec": {{
            "restartPolicy": "Never", "containers": [{{"name": "c", "image": "i"}}]}}}}}}}})",
                    name, spec, spec.empty() ? "" : ","));
    return made;
  }
  // As it is stored later on.
  Outcome live(std::string_view spec, std::string_view status) const {
    Outcome made = create(spec);
    EXPECT_EQ(made.message(), "");
    made.object.set("status", json::parse(*made.arena, fmt::format("{{{}}}", status)).value());
    return made;
  }
  Outcome patch(const Outcome& old, std::string_view change) const {
    return world.patch("batch/v1", "Job", old, change);
  }
  std::string status_fault(const Outcome& old, std::string_view status) const {
    return world
        .patch("batch/v1", "Job", old, fmt::format(R"({{"status": {{{}}}}})", status),
               {.subresource = "status"})
        .message();
  }
  World world;
};

std::string conditions(const std::vector<std::string_view>& types) {
  std::string list;
  for (const std::string_view type : types) {
    const bool no = type.starts_with("!");
    list += fmt::format(R"({}{{"type": "{}", "status": "{}"}})", list.empty() ? "" : ",",
                        type.substr(no ? 1 : 0), no ? "False" : "True");
  }
  return fmt::format(R"("conditions": [{}])", list);
}

constexpr std::string_view kStarted = R"("startTime": "2026-01-01T00:00:00Z")";
constexpr std::string_view kCompletedAt = R"("completionTime": "2026-01-01T00:00:00Z")";

struct StatusRow {
  std::string_view spec;
  std::string status;
  std::string_view fault;
};

std::vector<StatusRow> wrong_statuses() {
  const auto join = [](std::initializer_list<std::string_view> parts) {
    std::string out;
    for (const std::string_view part : parts) out += (out.empty() ? "" : ",") + std::string(part);
    return out;
  };
  const std::string complete = conditions({"SuccessCriteriaMet", "Complete"});
  const std::string failed = conditions({"FailureTarget", "Failed"});
  constexpr std::string_view kIndexed = R"("completionMode": "Indexed", "completions": 5)";
  constexpr std::string_view kPerIndex =
      R"("completionMode": "Indexed", "completions": 5, "backoffLimitPerIndex": 1)";
  return {
      {"", join({kStarted, kCompletedAt, conditions({"FailureTarget", "Complete", "Failed"})}),
       "cannot set Complete=True and Failed=true conditions"},
      {"", join({kStarted, kCompletedAt, conditions({"FailureTarget", "Complete"})}),
       "cannot set Complete=True and FailureTarget=true conditions"},
      {"", join({kStarted, kCompletedAt}),
       "cannot set completionTime when there is no Complete=True condition"},
      {"", join({kStarted, complete}), "completionTime is required for Complete jobs"},
      {"", join({R"("startTime": "2026-01-02T00:00:00Z")", kCompletedAt, complete}),
       "must be equal to or after `startTime`"},
      {"", join({kStarted, conditions({"Failed"})}),
       "cannot set Failed=True condition without the FailureTarget=true condition"},
      {"", join({kStarted, kCompletedAt, conditions({"Complete"})}),
       "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"},
      {"", join({kStarted, R"("active": 1)", failed}), "active>0 is invalid for finished job"},
      {"", failed, "startTime is required for finished job"},
      {"", join({kStarted, R"("uncountedTerminatedPods": {"failed": ["a"]})", failed}),
       "must be empty for finished job"},
      {kIndexed, R"("completedIndexes": "0,5")", R"(too large index: "5")"},
      {kPerIndex, R"("failedIndexes": "x")", "error parsing failedIndexes"},
      {"", R"("completedIndexes": "0")",
       "cannot set non-empty completedIndexes when non-indexed completion mode"},
      {kIndexed, R"("failedIndexes": "0")",
       "cannot set non-null failedIndexes when backoffLimitPerIndex is null"},
      {kPerIndex, R"("completedIndexes": "0-2", "failedIndexes": "2,3")",
       "failedIndexes and completedIndexes overlap at index: 2"},
      {"", join({kStarted, R"("terminating": 1)", failed}),
       "terminating>0 is invalid for finished job"},
      {"", R"("active": 1, "ready": 2)", "cannot set more ready pods than active"},
      {"", join({kStarted, conditions({"SuccessCriteriaMet", "FailureTarget", "Failed"})}),
       "cannot set SuccessCriteriaMet=True and Failed=true conditions"},
  };
}

TEST_F(JobRules, AWrongStatusIsRefused) {
  for (const StatusRow& row : wrong_statuses())
    EXPECT_THAT(status_fault(create(row.spec), row.status), HasSubstr(row.fault)) << row.status;
}

// A status that an older server let pass does not stop its Job.
TEST_F(JobRules, AStatusThatWasWrongBeforeIsWrittenOn) {
  for (const StatusRow& row : wrong_statuses()) {
    if (row.fault.find("SuccessCriteriaMet=True and F") != std::string_view::npos)
      continue;  // never allowed, changed or not
    EXPECT_EQ(status_fault(live(row.spec, row.status), ""), "") << row.status;
  }
}

TEST_F(JobRules, WhatAStatusSaidItSaysForEver) {
  struct Row {
    std::string_view spec;
    std::string before;
    std::string after;
    std::string_view fault;
  };
  const std::string done = fmt::format("{},{},{}", kStarted, kCompletedAt,
                                       conditions({"SuccessCriteriaMet", "Complete"}));
  const std::vector<Row> rows = {
      {"", conditions({"FailureTarget"}), conditions({"!FailureTarget"}),
       "cannot disable the terminal FailureTarget=True condition"},
      {"", conditions({"SuccessCriteriaMet"}), conditions({}),
       "cannot disable the SuccessCriteriaMet=True condition"},
      {"", done, conditions({"SuccessCriteriaMet"}),
       "cannot disable the terminal Complete=True condition"},
      {"", R"("failed": 2)", R"("failed": 1)", "cannot decrease the failed counter"},
      {"", R"("succeeded": 2)", R"("succeeded": 1)", "cannot decrease the succeeded counter"},
      {R"("completionMode": "Indexed", "completions": 3, "parallelism": 3)",
       R"("succeeded": 2, "completedIndexes": "0,1")", R"("succeeded": 1, "completedIndexes": "0")",
       ""},
      {R"("completionMode": "Indexed", "completions": 3, "parallelism": 2)",
       R"("succeeded": 2, "completedIndexes": "0,1")", R"("succeeded": 1, "completedIndexes": "0")",
       "cannot decrease the succeeded counter"},
      {"", done, R"("completionTime": "2026-01-02T00:00:00Z")", "field is immutable"},
      {"", std::string(kStarted), R"("startTime": "2026-01-02T00:00:00Z")",
       "field is immutable for unsuspended job once set"},
      {"", std::string(kStarted), R"("startTime": null)",
       "field is immutable for unsuspended job once set"},
      {R"("suspend": true)", std::string(kStarted), R"("startTime": null)", ""},
      {"", fmt::format("{},{}", kStarted, conditions({"Suspended"})),
       fmt::format(R"("startTime": "2026-01-02T00:00:00Z",{})", conditions({"!Suspended"})), ""},
      {"", fmt::format("{},{},{}", kStarted, kCompletedAt, conditions({"Complete"})),
       conditions({"Complete", "SuccessCriteriaMet"}),
       "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"},
  };
  for (const Row& row : rows) {
    const std::string fault = status_fault(live(row.spec, row.before), row.after);
    if (row.fault.empty()) {
      EXPECT_EQ(fault, "") << row.after;
    } else {
      EXPECT_THAT(fault, HasSubstr(row.fault)) << row.after;
    }
  }
}

TEST_F(JobRules, ASuspendedJobWithNothingToDoEndsWithoutAStart) {
  EXPECT_EQ(status_fault(
                create(R"("suspend": true, "completions": 0)"),
                fmt::format("{},{}", kCompletedAt, conditions({"SuccessCriteriaMet", "Complete"}))),
            "");
}

// What may be changed in a template, and the parts that never may.
constexpr std::array<std::string_view, 6> kPlacement = {
    R"({"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}})",
    R"({"spec": {"template": {"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}}}})",
    R"({"spec": {"template": {"spec": {"schedulingGates": [{"name": "a.b/c"}]}}}})",
    R"({"spec": {"template": {"metadata": {"labels": {"x": "y"}}}}})",
    R"({"spec": {"template": {"metadata": {"annotations": {"x": "y"}}}}})",
    R"({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i",
        "resources": {"requests": {"cpu": "1"}}}]}}}})",
};

TEST_F(JobRules, TheTemplateOfASuspendedJobMayChangeWhenItHasNoPods) {
  struct Row {
    std::string_view name;
    std::string_view spec;
    std::string status;
    bool allowed;
  };
  const std::vector<Row> rows = {
      {"never started", R"("suspend": true)", "", true},
      {"suspended again", R"("suspend": true)",
       fmt::format("{},{}", kStarted, conditions({"Suspended"})), true},
      {"suspended, but pods remain", R"("suspend": true)",
       fmt::format(R"({},"active": 1,{})", kStarted, conditions({"Suspended"})), false},
      {"started and not yet told to be suspended", R"("suspend": true)", std::string(kStarted),
       false},
      {"not suspended", "", std::string(kStarted), false},
      {"resumed, with a condition that is out of date", "",
       fmt::format("{},{}", kStarted, conditions({"Suspended"})), false},
  };
  for (const Row& row : rows) {
    for (const std::string_view change : kPlacement) {
      const std::string fault = patch(live(row.spec, row.status), change).message();
      if (row.allowed) {
        EXPECT_EQ(fault, "") << row.name << ": " << change;
      } else {
        EXPECT_THAT(fault, HasSubstr("field is immutable")) << row.name << ": " << change;
      }
    }
  }
}

TEST_F(JobRules, OtherPartsOfATemplateNeverChange) {
  const Outcome suspended = create(R"("suspend": true)");
  for (const std::string_view change : {
           R"({"containers": [{"name": "c", "image": "other"}]})",
           R"({"schedulerName": "other"})",
           R"({"priorityClassName": "other"})",
           R"({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
               [{"topologyKey": "a"}]}}})",
       }) {
    EXPECT_THAT(
        patch(suspended, fmt::format(R"({{"spec": {{"template": {{"spec": {}}}}}}})", change))
            .message(),
        HasSubstr("field is immutable"))
        << change;
  }
}

TEST_F(JobRules, EditAndResumeInOneRequestButNotEditAndSuspend) {
  constexpr std::string_view kChange =
      R"({{"spec": {{"suspend": {}, "template": {{"spec": {{"nodeSelector": {{"a": "b"}}}}}}}}}})";
  EXPECT_EQ(patch(create(R"("suspend": true)"), fmt::format(kChange, false)).message(), "");
  EXPECT_THAT(patch(live("", std::string(kStarted)), fmt::format(kChange, true)).message(),
              HasSubstr("field is immutable"));
}

TEST_F(JobRules, WhatMayChangeAtAnyTime) {
  const Outcome running = live(R"("backoffLimitPerIndex": 1, "maxFailedIndexes": 1,
      "completionMode": "Indexed", "completions": 2, "parallelism": 2)",
                               kStarted);
  for (const std::string_view spec :
       {R"("parallelism": 5)", R"("suspend": true)", R"("backoffLimit": 9)",
        R"("activeDeadlineSeconds": 9)", R"("ttlSecondsAfterFinished": 9)",
        R"("maxFailedIndexes": 2)", R"("podReplacementPolicy": "Failed")",
        R"("completions": 3, "parallelism": 3)"}) {
    const Outcome changed = patch(running, fmt::format(R"({{"spec": {{{}}}}})", spec));
    EXPECT_EQ(changed.message(), "") << spec;
    EXPECT_EQ(changed.at({"metadata", "generation"}).as_int(), 2) << spec;
  }
}

TEST_F(JobRules, WhatNeverChanges) {
  const Outcome indexed = create(R"("completionMode": "Indexed", "completions": 2,
      "backoffLimitPerIndex": 1, "managedBy": "acme.io/x")");
  for (const auto& [spec, fault] : std::vector<std::pair<std::string_view, std::string_view>>{
           {R"("backoffLimitPerIndex": 2)", "spec.backoffLimitPerIndex"},
           {R"("managedBy": "acme.io/y")", "spec.managedBy"},
           {R"("completions": 3)", "can only be modified in tandem with spec.parallelism"},
           {R"("successPolicy": {"rules": [{"succeededCount": 1}]})", "spec.successPolicy"},
           {R"("podReplacementPolicy": "Failed", "podFailurePolicy": {"rules": []})",
            "spec.podFailurePolicy"},
       }) {
    EXPECT_THAT(patch(indexed, fmt::format(R"({{"spec": {{{}}}}})", spec)).message(),
                HasSubstr(fault))
        << spec;
  }
  EXPECT_THAT(patch(create(R"("completions": 2)"), R"({"spec": {"completions": 3}})").message(),
              HasSubstr("spec.completions: Invalid value: 3: field is immutable"));
}

TEST_F(JobRules, MetadataAndStatusLeaveTheGenerationAlone) {
  const Outcome made = create();
  EXPECT_EQ(made.at({"metadata", "generation"}).as_int(), 1);
  EXPECT_EQ(patch(made, R"({"metadata": {"labels": {"a": "b"}}})")
                .at({"metadata", "generation"})
                .as_int(),
            1);
  EXPECT_EQ(
      world
          .patch("batch/v1", "Job", made, R"({"status": {"active": 1}})", {.subresource = "status"})
          .at({"metadata", "generation"})
          .as_int(),
      1);
  EXPECT_EQ(patch(live("", R"("active": 3)"), R"({"spec": {"suspend": true}})")
                .at({"status", "active"})
                .as_int(),
            3)
      << "an update keeps the status";
}

TEST_F(JobRules, ANewJobHasNoStatus) {
  const Outcome made = world.create("batch/v1", "Job", R"({"metadata": {"name": "j"},
      "status": {"active": 7}, "spec": {"template": {"spec": {"restartPolicy": "Never",
      "containers": [{"name": "c", "image": "i"}]}}}})");
  EXPECT_TRUE(made.at({"status", "active"}).is_null());
}

TEST_F(JobRules, Warnings) {
  EXPECT_THAT(create("", "j").warnings, IsEmpty());
  EXPECT_THAT(create("", "a.b").warnings,
              ElementsAre(StartsWith("metadata.name: this is used in Pod names and hostnames")));
  constexpr std::string_view kHuge =
      R"("completionMode": "Indexed", "completions": 100001, "parallelism": {})";
  EXPECT_THAT(create(fmt::format(kHuge, 10001)).warnings,
              ElementsAre(StartsWith("spec: In Indexed Jobs with a number of completions")));
  EXPECT_THAT(create(fmt::format(kHuge, 10000)).warnings, IsEmpty());
}

TEST_F(JobRules, Defaults) {
  struct Row {
    std::string_view spec;
    std::vector<std::string_view> path;
    std::string_view value;
  };
  const std::vector<Row> rows = {
      {"", {"spec", "completions"}, "1"},
      {"", {"spec", "parallelism"}, "1"},
      {R"("completions": 3)", {"spec", "parallelism"}, "1"},
      {R"("parallelism": 3)", {"spec", "completions"}, "null"},
      {"", {"spec", "backoffLimit"}, "6"},
      {R"("completionMode": "Indexed", "completions": 1, "backoffLimitPerIndex": 0)",
       {"spec", "backoffLimit"},
       "2147483647"},
      {"", {"spec", "completionMode"}, R"("NonIndexed")"},
      {"", {"spec", "suspend"}, "false"},
      {"", {"spec", "podReplacementPolicy"}, R"("TerminatingOrFailed")"},
      {R"("podFailurePolicy": {"rules": []})", {"spec", "podReplacementPolicy"}, R"("Failed")"},
      {"", {"metadata", "labels", "job-name"}, R"("j")"},
  };
  for (const Row& row : rows) {
    const Outcome made = create(row.spec);
    json::Value value = made.object;
    for (const std::string_view key : row.path) value = value.get(key);
    EXPECT_EQ(json::write(value), row.value) << row.spec;
  }
}

}  // namespace job_test
}  // namespace muster::admission
