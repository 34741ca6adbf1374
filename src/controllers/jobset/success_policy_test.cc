#include "controllers/jobset/success_policy.h"

#include <gtest/gtest.h>

#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace success_policy_test {

TEST(SuccessPolicy, IsMetByTheJobsThatItTargets) {
  using Targets = std::vector<std::string>;
  const struct {
    std::string_view name;
    bool any;
    Targets targets;
    int a_succeeded, b_succeeded;  // of 1 and of 2
    bool met;
  } rows[] = {
      {"All, none", false, {}, 0, 0, false},
      {"All, some", false, {}, 1, 1, false},
      {"All, all", false, {}, 1, 2, true},
      {"All of a", false, {"a"}, 1, 0, true},
      {"All of a, only b", false, {"a"}, 0, 2, false},
      {"All of b, one of two", false, {"b"}, 1, 1, false},
      {"All of both", false, {"a", "b"}, 1, 2, true},
      {"Any, one", true, {}, 0, 1, true},
      {"Any, none", true, {}, 0, 0, false},
      {"Any of a, only b", true, {"a"}, 0, 2, false},
      {"Any of a", true, {"a"}, 1, 0, true},
      {"All of an entry without replicas", false, {"none"}, 0, 1, true},
  };
  const api::JobSet set =
      read(jobset({job("a"), job("b", {.replicas = 2}), job("none", {.replicas = 0})}));
  for (const auto& row : rows) {
    Tallies tallies = tally(set, {}, {});
    tallies[0].status.succeeded = row.a_succeeded;
    tallies[1].status.succeeded = row.b_succeeded;
    EXPECT_EQ(success_policy_met({.any = row.any, .target_replicated_jobs = row.targets}, tallies),
              row.met)
        << row.name;
  }
}

}  // namespace success_policy_test
}  // namespace muster::controllers::jobset
