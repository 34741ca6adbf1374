#include "controllers/job/birth_names.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace muster::controllers::job {
namespace birth_names_test {

class BirthNames : public ::testing::Test {
 protected:
  BirthNames() { job_.ref.uid = "u"; }

  std::string suffix(std::int64_t index, std::vector<std::pair<std::int64_t, std::string>> pods) {
    return suffixes({Birth{.index = index}}, std::move(pods))[0];
  }
  std::vector<std::string> suffixes(std::vector<Birth> born,
                                    std::vector<std::pair<std::int64_t, std::string>> pods) {
    std::vector<Pod> known(pods.size());
    Census census;
    for (std::size_t i = 0; i < pods.size(); ++i) {
      known[i].index = pods[i].first;
      known[i].ref.uid = pods[i].second;
      census.pods.push_back(&known[i]);
    }
    if (job_.is_indexed()) std::ranges::stable_sort(census.pods, {}, &Pod::index);
    name_births(job_, census, others_, born);
    std::vector<std::string> out;
    for (const Birth& birth : born) out.push_back(birth.suffix);
    return out;
  }
  Job job_;
  Namesakes others_;
};

TEST_F(BirthNames, TheSameSightGivesTheSameName) {
  EXPECT_EQ(suffix(3, {{3, "a"}, {4, "b"}}), suffix(3, {{4, "b"}, {3, "a"}}));
  EXPECT_EQ(suffix(3, {}).size(), 5u);
}

TEST_F(BirthNames, APredecessorMakesItAnother) {
  job_.completions = 9;
  job_.mode = Job::Mode::kIndexed;
  EXPECT_NE(suffix(3, {}), suffix(3, {{3, "a"}}));
  EXPECT_NE(suffix(3, {{3, "a"}}), suffix(3, {{3, "a"}, {3, "b"}}));
  EXPECT_EQ(suffix(3, {}), suffix(3, {{4, "a"}})) << "pods of other indexes do not count";
}

TEST_F(BirthNames, ANameThatStaysTakenIsGivenUp) {
  const std::string first = suffix(3, {});
  others_.failures = 8;
  EXPECT_EQ(suffix(3, {}), first);
  others_.failures = 9;
  EXPECT_NE(suffix(3, {}), first);
}

TEST_F(BirthNames, PodsOfOnePassDiffer) {
  const auto names = suffixes(std::vector<Birth>(500), {});
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 500u);
}

}  // namespace birth_names_test
}  // namespace muster::controllers::job
