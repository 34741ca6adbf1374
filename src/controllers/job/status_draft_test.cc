#include "controllers/job/status_draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace status_draft_test {

using testing::job;
using testing::kStart;

class Draft : public ::testing::Test {
 protected:
  Draft() {
    jobs_.gvk.group = "batch";
    jobs_.plural = "jobs";
  }
  // What is written; empty if nothing is.
  std::string written(const StatusDraft& draft) const {
    const auto operation = draft.operation(jobs_);
    if (!operation) return "";
    json::Arena arena;
    return json::write(json::parse(arena, operation->body.text())->get("status"));
  }
  static Job suspended(std::string_view status, std::string_view reason = "JobSuspended") {
    return job("", fmt::format(R"("conditions":[{{"type":"Suspended","status":"{}","reason":"{}",)"
                               R"("message":"Job suspended"}}])",
                               status, reason));
  }

  api::Resource jobs_;
};

TEST_F(Draft, SaysOnlyWhatChanged) {
  const Job j = job("", R"("active":2,"ready":1,"failed":3)");
  StatusDraft draft(j);
  EXPECT_EQ(written(draft), "");
  draft.set_count("active", 0);
  draft.set_number("ready", 0);
  draft.set_count("failed", 3);
  draft.set_text("completedIndexes", "");
  draft.set_always("failedIndexes", "");
  draft.set_time("startTime", kStart);
  draft.set_time("completionTime", {});
  EXPECT_EQ(written(draft),
            R"({"ready":0,"failedIndexes":"","startTime":"2026-03-01T00:00:00Z","active":null})");
}

TEST_F(Draft, IsBoundToTheVersionThatItWasMadeOf) {
  const Job j = job("");
  StatusDraft draft(j);
  draft.set_number("ready", 0);
  const auto operation = draft.operation(jobs_);
  EXPECT_EQ(operation->summary(), "patch jobs.batch/status d/j");
  EXPECT_EQ(operation->body.text(),
            R"({"status":{"ready":0},"metadata":{"uid":"u-j","resourceVersion":"1"}})");
}

TEST_F(Draft, UncountedPodsAreListed) {
  const Job j = job("", R"("uncountedTerminatedPods":{"failed":["a"]})");
  StatusDraft draft(j);
  draft.set_uncounted({}, std::vector<std::string>{"a"});
  EXPECT_EQ(written(draft), "");
  draft.set_uncounted(std::vector<std::string>{"b", "c"}, {});
  EXPECT_EQ(written(draft), R"({"uncountedTerminatedPods":{"succeeded":["b","c"],"failed":null}})");
}

TEST_F(Draft, ANewConditionIsAddedAtTheEnd) {
  const Job j = suspended("False");
  StatusDraft draft(j);
  draft.add_condition("FailureTarget", "R", "M", kStart);
  EXPECT_EQ(written(draft),
            R"({"conditions":[{"type":"Suspended","status":"False","reason":"JobSuspended",)"
            R"("message":"Job suspended"},{"type":"FailureTarget","status":"True",)"
            R"("lastProbeTime":"2026-03-01T00:00:00Z","lastTransitionTime":"2026-03-01T00:00:00Z",)"
            R"("reason":"R","message":"M"}]})");
}

TEST_F(Draft, EnsuresConditions) {
  struct Row {
    std::string_view name;
    Job job;
    bool holds, changed;
    std::size_t conditions;
  };
  const std::vector<Row> rows = {
      {"absent, and it holds", job(""), true, true, 1},
      {"absent, and it does not: nothing to say", job(""), false, false, 0},
      {"there and the same", suspended("True"), true, false, 1},
      {"another status", suspended("False"), true, true, 1},
      {"another reason", suspended("True", "Other"), true, true, 1},
      {"there, and it does not hold any more", suspended("True"), false, true, 1},
  };
  for (const Row& row : rows) {
    StatusDraft draft(row.job);
    EXPECT_EQ(
        draft.ensure_condition("Suspended", row.holds, "JobSuspended", "Job suspended", kStart),
        row.changed)
        << row.name;
    EXPECT_EQ(!written(draft).empty(), row.changed) << row.name;
    if (!row.changed) continue;
    json::Arena arena;
    const json::Value conditions = json::parse(arena, written(draft))->get("conditions");
    ASSERT_EQ(conditions.size(), row.conditions) << row.name;
    EXPECT_EQ(conditions.item(0).get("status").as_string(), row.holds ? "True" : "False");
  }
}

TEST_F(Draft, KnowsWhatChangedSinceAMark) {
  const Job j = job("");
  StatusDraft draft(j);
  draft.set_number("ready", 1);
  draft.mark();
  EXPECT_FALSE(draft.changed_since_mark());
  draft.set_number("ready", 2);
  EXPECT_TRUE(draft.changed_since_mark());
}

}  // namespace status_draft_test
}  // namespace muster::controllers::job
