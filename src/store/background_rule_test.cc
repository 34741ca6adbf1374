#include "store/background_rule.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace muster::store {
namespace background_rule_test {

// Texts that begin with "bad" are faults.
std::string no_bad_text(const Record& record) {
  if (!record.text.starts_with("bad")) return "";
  return fmt::format("{} {}/{} at {}", record.resource, record.ns, record.name, record.revision);
}

std::string first_fault(std::size_t records, const std::vector<Revision>& bad) {
  BackgroundRule rule(no_bad_text);
  for (Revision revision = 1; revision <= records; ++revision) {
    const bool is_bad = std::ranges::find(bad, revision) != bad.end();
    rule.add(std::make_shared<const Object>("default", "a", is_bad ? "bad" : "good", revision),
             "pods");
  }
  return rule.finish();
}

TEST(BackgroundRule, NamesTheFirstFaultWhereverItIs) {
  constexpr std::size_t kBatch = BackgroundRule::kBatch, kMany = 5 * kBatch + 7;
  EXPECT_EQ(first_fault(0, {}), "");
  EXPECT_EQ(first_fault(3, {}), "");
  EXPECT_EQ(first_fault(3, {2}), "pods default/a at 2");
  EXPECT_EQ(first_fault(3, {2, 3}), "pods default/a at 2");
  EXPECT_EQ(first_fault(kMany, {}), "");
  for (const Revision at : {Revision{1}, Revision{kBatch}, Revision{kBatch + 1},
                            Revision{3 * kBatch + 5}, Revision{kMany}})
    EXPECT_EQ(first_fault(kMany, {at, kMany}), fmt::format("pods default/a at {}", at));
}

TEST(BackgroundRule, WithoutARuleAllIsWell) {
  BackgroundRule rule(nullptr);
  rule.add(std::make_shared<const Object>("default", "a", "bad", Revision{1}), "pods");
  EXPECT_EQ(rule.finish(), "");
}

TEST(BackgroundRule, EndsWhenNobodyWaitsForItsWord) {
  BackgroundRule rule(no_bad_text);
  for (Revision revision = 1; revision <= 2 * BackgroundRule::kBatch; ++revision)
    rule.add(std::make_shared<const Object>("default", "a", "good", revision), "pods");
}

}  // namespace background_rule_test
}  // namespace muster::store
