#include "cli/input/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace diagnose_test {

using testing::HasSubstr;
using testing::Not;

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

TEST_F(Explain, KnowsWhatServerSideApplySaysOfIt) {
  const std::string text =
      explain({.code = Code::kBadRequest,
               .message = "failed to create typed patch object (default/x; v1, Kind=JobSet): "
                          "errors:\n  .spec.replicatedJobs[1].dependson: field not declared in "
                          "schema\n  .spec.x: field not declared in schema"},
              source_);
  EXPECT_THAT(text, HasSubstr("--> t.yaml:6:5"));
  EXPECT_THAT(text, HasSubstr("did you mean \"dependsOn\"?"));
  EXPECT_THAT(text, HasSubstr("unknown field spec.x\n"));
}

TEST_F(Explain, FindsListItemsByTheirKeys) {
  const std::string text =
      explain({.code = Code::kBadRequest,
               .message = "failed to create typed patch object (default/x; v1, Kind=JobSet): "
                          ".spec.replicatedJobs[name=\"trainer\"].dependson: field not declared "
                          "in schema"},
              source_);
  EXPECT_THAT(text, HasSubstr("error: unknown field spec.replicatedJobs[1].dependson\n"));
  EXPECT_THAT(text, HasSubstr("--> t.yaml:6:5"));
  EXPECT_THAT(text, HasSubstr("^^^^^^^^^ did you mean \"dependsOn\"?"));
}

TEST_F(Explain, PointsAtAFieldThatSomebodyElseHasSet) {
  const auto conflict = [&](std::string field) {
    Error error{.code = Code::kConflict, .message = "m"};
    error.causes.push_back({"FieldManagerConflict", "conflict with \"other\"", std::move(field)});
    return explain(error, source_);
  };
  EXPECT_THAT(conflict(".spec.replicatedJobs"), HasSubstr("--> t.yaml:3:3"));
  const std::string text = conflict(R"(.spec.replicatedJobs[name="trainer"].dependsOn)");
  EXPECT_THAT(text, HasSubstr("--> t.yaml:7:5\n   7 |     dependsOn:\n     |     ^^^^^^^^^\n"));
  EXPECT_THAT(conflict(R"(.spec.replicatedJobs[name="a]\"b"].dependsOn)"),
              HasSubstr("--> t.yaml:3:3"))
      << "the list, if it has no such item";
}

TEST_F(Explain, PointsAtAKeyThatIsThereAlready) {
  constexpr std::string_view kTwice = "spec:\n  replicas: 1\n  name: a\n  replicas: 2\n";
  const auto documents = *json::parse_yaml(arena_, kTwice);
  EXPECT_EQ(explain_repeated({.file = "t.yaml", .text = kTwice, .document = &documents[0]}),
            "error: key \"replicas\" already set in map\n"
            "  --> t.yaml:4:3\n"
            "   4 |   replicas: 2\n"
            "     |   ^^^^^^^^\n");
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

std::string syntax(std::string_view text, int column) {
  return explain_syntax({.code = Code::kBadRequest,
                         .message = "yaml: no at line 1, column " + std::to_string(column)},
                        "t.json", text);
}

TEST(ExplainSyntax, CutsALineAroundTheFault) {
  const std::string line = std::string(500, 'a') + "!" + std::string(500, 'b');
  EXPECT_EQ(syntax(line, 501), "error: yaml: no\n  --> t.json:1:501\n   1 | ..." +
                                   std::string(40, 'a') + "!" + std::string(79, 'b') +
                                   "...\n     | " + std::string(43, ' ') + "^\n");
  EXPECT_THAT(syntax(line, 1), HasSubstr("   1 | " + std::string(120, 'a') + "...\n     | ^\n"));
  EXPECT_THAT(syntax(line, 1001), HasSubstr("   1 | ..." + std::string(41, 'b') + "\n"));
}

TEST(ExplainSyntax, NeverCutsALetterInTwo) {
  std::string line;
  for (int i = 0; i < 200; ++i) line += "\u00e9";
  for (int column = 1; column <= 400; column += 2)
    EXPECT_THAT(syntax(line, column), Not(HasSubstr("\uFFFD"))) << column;
}

}  // namespace diagnose_test
}  // namespace muster::cli
