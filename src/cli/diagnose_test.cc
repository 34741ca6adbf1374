#include "cli/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using testing::HasSubstr;

TEST(DidYouMean, FindsASlipAndNothingElse) {
  EXPECT_EQ(did_you_mean("initialzer", {"dataset", "initializer"}), "initializer");
  EXPECT_EQ(did_you_mean("dependson", {"dependsOn", "name"}), "dependsOn");
  EXPECT_EQ(did_you_mean("zebra", {"dataset", "initializer"}), std::nullopt);
}

class Explain : public testing::Test {
 protected:
  static constexpr std::string_view kText =
      "kind: JobSet\n"
      "spec:\n"
      "  replicatedJobs:\n"
      "  - name: dataset\n"
      "  - name: trainer\n"
      "    dependson: []\n"
      "    dependsOn:\n"
      "    - name: datset\n";
  json::Arena arena_;
  std::vector<json::YamlDocument> documents_ = *json::parse_yaml(arena_, kText);
  Source source_{
      .file = "t.yaml",
      .text = kText,
      .document = &documents_[0],
      .resource = api::Registry::builtin().find("jobset.x-k8s.io", "v1alpha2", "jobsets")};
};

TEST_F(Explain, PointsAtAnUnknownFieldAndItsNeighbour) {
  const std::string text = explain(
      {.code = Code::kBadRequest,
       .message = R"(strict decoding error: unknown field "spec.replicatedJobs[1].dependson")"},
      source_);
  EXPECT_THAT(text, HasSubstr("--> t.yaml:6:5"));
  EXPECT_THAT(text, HasSubstr("6 |     dependson: []"));
  EXPECT_THAT(text, HasSubstr("^^^^^^^^^ did you mean \"dependsOn\"?"));
}

TEST_F(Explain, SaysWhichNamesADependencyMayHave) {
  Error error{.code = Code::kInvalid, .message = "m"};
  error.causes.push_back({"FieldValueInvalid", "Invalid value: \"datset\": no such job",
                          "spec.replicatedJobs[1].dependsOn[0].name"});
  const std::string text = explain(error, source_);
  EXPECT_THAT(text, HasSubstr("--> t.yaml:8:13"));
  EXPECT_THAT(text, HasSubstr("did you mean \"dataset\"?"));
  EXPECT_THAT(text, HasSubstr("above it in the list: dataset"));
}

TEST_F(Explain, AFaultWithoutAFieldIsItsMessage) {
  EXPECT_EQ(explain({.code = Code::kNotFound, .message = "namespaces \"x\" not found"}, source_),
            "error: namespaces \"x\" not found\n");
}

}  // namespace
}  // namespace muster::cli
