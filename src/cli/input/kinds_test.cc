#include "cli/input/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace kinds_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::string kind(std::string_view word) {
  KindCatalog kinds;
  const auto found = kinds.find(word);
  return found ? (*found)->qualified() : found.error().message;
}

TEST(Kinds, HaveTheNamesThatPeopleGiveThem) {
  for (const std::string_view word :
       {"js", "jobset", "jobsets", "JobSet", "jobsets.jobset.x-k8s.io",
        "jobsets.v1alpha2.jobset.x-k8s.io"}) {
    EXPECT_EQ(kind(word), "jobsets.jobset.x-k8s.io") << word;
  }
  EXPECT_EQ(kind("po"), "pods");
  EXPECT_EQ(kind("job"), "jobs.batch");
  EXPECT_EQ(kind("wl"), "workloads.kueue.x-k8s.io");
  EXPECT_EQ(kind("cq"), "clusterqueues.kueue.x-k8s.io");
  EXPECT_EQ(kind("jobste"), "there is no kind \"jobste\"; did you mean \"jobset\"?");
  EXPECT_EQ(kind("\x1b[2Jxyzzy"), "there is no kind \"xyzzy\"");
}

std::vector<std::string> wanted(const std::vector<std::string>& words) {
  KindCatalog kinds;
  const auto parsed = parse_wanted(kinds, words);
  if (!parsed) return {parsed.error().message};
  std::vector<std::string> out;
  for (const Wanted& one : *parsed) {
    std::string text = one.resource->plural;
    for (const std::string& name : one.names) text += " " + name;
    out.push_back(text);
  }
  return out;
}

TEST(Kinds, AndObjectsAreNamedTogether) {
  EXPECT_THAT(wanted({"pods"}), ElementsAre("pods"));
  EXPECT_THAT(wanted({"pods", "a", "b"}), ElementsAre("pods a b"));
  EXPECT_THAT(wanted({"js,po"}), ElementsAre("jobsets", "pods"));
  EXPECT_THAT(wanted({"all"}), ElementsAre("jobsets", "jobs", "pods"));
  EXPECT_THAT(wanted({"job/a", "job/b", "pod/c"}), ElementsAre("jobs a b", "pods c"));
  EXPECT_THAT(wanted({"job/a", "b"}), ElementsAre(HasSubstr("\"b\" names no object")));
  EXPECT_THAT(wanted({}), ElementsAre(HasSubstr("say which kind")));
  EXPECT_THAT(wanted({"pods", ""}), ElementsAre(HasSubstr("an empty word")));
}

TEST(MissingObject, IsToldWithWhatMayHaveBeenMeant) {
  EXPECT_EQ(missing_object(job_sets(), "default", "trian", {"eval", "prep", "train"}),
            "no JobSet \"trian\" in namespace default; did you mean \"train\"? Others: eval, prep");
  EXPECT_EQ(missing_object(job_sets(), "default", "x", {}), "no JobSet \"x\" in namespace default");
  EXPECT_EQ(missing_object(job_sets(), "default", "zzzzz", {"a"}),
            "no JobSet \"zzzzz\" in namespace default. There are: a");
}

TEST(MissingObject, ShowsTheNearestOfManyAndHowManyMore) {
  const std::vector<std::string> many = {"a-prep", "b-prep", "c-prep",  "d-prep",
                                         "e-prep", "eval-1", "eval-two"};
  EXPECT_EQ(other_names("evaluation", many),
            "There are: eval-two, eval-1, a-prep, e-prep, b-prep and 2 more");
  EXPECT_EQ(other_names("eval-2", many),
            "did you mean \"eval-1\"? Others: eval-two, e-prep, a-prep, b-prep, c-prep and 1 more");
}

}  // namespace kinds_test
}  // namespace muster::cli
