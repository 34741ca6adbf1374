#include "controllers/job/success_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace success_policy_test {

using testing::job;

TEST(SuccessPolicy, RuleByRule) {
  struct Row {
    std::string_view name;
    std::string_view rules;
    std::string_view succeeded;
    std::optional<std::size_t> met;
  };
  const std::vector<Row> rows = {
      {"no rules", "", "0-9", {}},
      {"nothing has succeeded", R"({"succeededCount":0})", "", {}},
      {"count reached", R"({"succeededCount":2})", "0,5", 0},
      {"count not reached", R"({"succeededCount":3})", "0,5", {}},
      {"all of the indexes", R"({"succeededIndexes":"0,2-4"})", "0,2-4", 0},
      {"more than the indexes", R"({"succeededIndexes":"2-4"})", "0-9", 0},
      {"the indexes but one", R"({"succeededIndexes":"0,2-4"})", "0,2,4", {}},
      {"overlap at the start", R"({"succeededIndexes":"2-6"})", "0-3", {}},
      {"overlap at the end", R"({"succeededIndexes":"2-6"})", "5-9", {}},
      {"others", R"({"succeededIndexes":"2-4"})", "0,1,5-9", {}},
      {"enough of the indexes", R"({"succeededIndexes":"2-6","succeededCount":2})", "0-3", 0},
      {"not enough of the indexes", R"({"succeededIndexes":"2-6","succeededCount":3})", "0-3", {}},
      {"all of them, though fewer than the count",
       R"({"succeededIndexes":"2,3","succeededCount":5})", "2,3", 0},
      {"no indexes at all", R"({"succeededIndexes":""})", "0-9", {}},
      {"broken indexes", R"({"succeededIndexes":"x"})", "0-9", {}},
      {"broken indexes, but a second rule", R"({"succeededIndexes":"x"},{"succeededCount":1})", "3",
       1},
      {"the first of several", R"({"succeededIndexes":"0"},{"succeededCount":1})", "0", 0},
      {"the second of several", R"({"succeededIndexes":"0"},{"succeededCount":1})", "4", 1},
  };
  for (const Row& row : rows) {
    const Job j = job(fmt::format(R"("completionMode":"Indexed","completions":10,)"
                                  R"("successPolicy":{{"rules":[{}]}})",
                                  row.rules));
    EXPECT_EQ(met_success_rule(j, api::IntervalSet::parse(row.succeeded, 10)), row.met) << row.name;
  }
}

}  // namespace success_policy_test
}  // namespace muster::controllers::job
