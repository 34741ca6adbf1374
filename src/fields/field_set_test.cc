#include "fields/field_set.h"

#include <gmock/gmock.h>

#include "fields/fields_v1.h"
#include "fields/testing.h"

namespace muster::fields {
namespace field_set_test {

using json::Tree;

// A set with the memory that it views.
struct Set {
  explicit Set(std::string_view text) : tree(text) {
    Result<FieldSet> parsed = parse_fields(tree.arena, tree);
    MUSTER_ASSERT(parsed.has_value(), parsed.error().message.c_str());
    set = *std::move(parsed);
  }
  operator const FieldSet&() const { return set; }

  Tree tree;
  FieldSet set;
};

std::vector<std::string> paths_of(const FieldSet& set) {
  std::vector<std::string> paths;
  for_each_path(set, [&](std::span<const PathElement> path) { paths.push_back(to_text(path)); });
  return paths;
}

std::vector<PathElement> path(std::initializer_list<std::string_view> names) {
  std::vector<PathElement> elements;
  for (const std::string_view name : names) elements.push_back(PathElement::field(name));
  return elements;
}

TEST(FieldsV1, AreReadAndWrittenAlike) {
  for (
      const std::string text :
      {R"({})", R"({"f:data":{"f:k":{}}})", R"({"f:data":{".":{},"f:k":{}}})",
       R"({"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}},"f:selector":{}}})",
       R"({"f:metadata":{"f:finalizers":{".":{},"v:\"a\"":{},"v:\"b\"":{}}}})",
       R"({"f:l":{"i:0":{},"i:1":{}}})"}) {
    EXPECT_EQ(to_json(Set(text)), text);
  }
}

TEST(FieldsV1, AreWrittenInTheOrderOfTheSet) {
  EXPECT_EQ(
      to_json(Set(
          R"({"v:10":{},"f:b":{},"v:9":{},"f:a":{"f:x":{},".":{}},"k:{\"n\":2}":{},"k:{\"n\":1}":{}})")),
      R"({"f:a":{".":{},"f:x":{}},"f:b":{},"k:{\"n\":1}":{},"k:{\"n\":2}":{},"v:9":{},"v:10":{}})");
}

TEST(FieldsV1, OfCustomResourcesAreSortedByTheText) {
  json::Arena arena;
  const json::Value written =
      write_fields(arena, Set(R"({"v:9":{},"v:10":{".":{},"f:x":{}}})"), KeyOrder::kText);
  EXPECT_EQ(json::write(written), R"({"v:10":{".":{},"f:x":{}},"v:9":{}})");
}

TEST(FieldsV1, OneElementInTwoSpellingsIsOneNode) {
  EXPECT_EQ(
      to_json(Set(R"({"k:{\"b\":1,\"a\":1}":{"f:x":{}},"k:{\"a\":1,\"b\":1}":{".":{},"f:y":{}}})")),
      R"({"k:{\"a\":1,\"b\":1}":{".":{},"f:x":{},"f:y":{}}})");
}

TEST(FieldsV1, NullAndUnknownElementsAreLeftOut) {
  EXPECT_EQ(to_json(Set("null")), "{}");
  EXPECT_EQ(to_json(Set(R"({"f:a":null,"z:a":{"f:b":{}}})")), R"({"f:a":{}})");
  // Nothing that we know is below: then it is a member.
  EXPECT_EQ(to_json(Set(R"({"f:a":{"z:a":{}}})")), R"({"f:a":{}})");
}

TEST(FieldsV1, RefuseWhatIsNoSet) {
  for (const std::string_view text : {"1", "[]", R"({"f:a":1})", R"({"a":{}})", R"({"k:x":{}})"}) {
    const Tree tree(text);
    json::Arena arena;
    EXPECT_FALSE(parse_fields(arena, tree).has_value()) << text;
  }
}

TEST(FieldSet, MembersAreNotTheirParents) {
  FieldSet set;
  set.insert(path({"spec", "replicas"}));
  EXPECT_TRUE(set.has(path({"spec", "replicas"})));
  EXPECT_FALSE(set.has(path({"spec"})));
  EXPECT_FALSE(set.has(path({"spec", "replicas", "x"})));
  EXPECT_FALSE(set.has({}));
  set.insert(path({"spec"}));
  EXPECT_EQ(to_json(set), R"({"f:spec":{".":{},"f:replicas":{}}})");
}

struct Operation {
  std::string_view a;
  std::string_view b;
  std::string_view united;
  std::string_view common;
  std::string_view without;
  std::string_view without_trees;
};

TEST(FieldSet, Operations) {
  const std::vector<Operation> table = {
      {"{}", "{}", "{}", "{}", "{}", "{}"},
      {R"({"f:a":{}})", "{}", R"({"f:a":{}})", "{}", R"({"f:a":{}})", R"({"f:a":{}})"},
      {"{}", R"({"f:a":{}})", R"({"f:a":{}})", "{}", "{}", "{}"},
      {R"({"f:a":{},"f:b":{}})", R"({"f:b":{},"f:c":{}})", R"({"f:a":{},"f:b":{},"f:c":{}})",
       R"({"f:b":{}})", R"({"f:a":{}})", R"({"f:a":{}})"},
      // A member and what lies below it are different paths, …
      {R"({"f:a":{}})", R"({"f:a":{"f:x":{}}})", R"({"f:a":{".":{},"f:x":{}}})", "{}",
       R"({"f:a":{}})", R"({"f:a":{}})"},
      // … but the trees below a member go with it.
      {R"({"f:a":{"f:x":{}}})", R"({"f:a":{}})", R"({"f:a":{".":{},"f:x":{}}})", "{}",
       R"({"f:a":{"f:x":{}}})", "{}"},
      {R"({"f:a":{".":{},"f:x":{},"f:y":{}}})", R"({"f:a":{".":{},"f:x":{}}})",
       R"({"f:a":{".":{},"f:x":{},"f:y":{}}})", R"({"f:a":{".":{},"f:x":{}}})",
       R"({"f:a":{"f:y":{}}})", "{}"},
      {R"({"f:a":{".":{},"f:x":{".":{},"f:y":{}}}})", R"({"f:a":{"f:x":{}}})",
       R"({"f:a":{".":{},"f:x":{".":{},"f:y":{}}}})", R"({"f:a":{"f:x":{}}})",
       R"({"f:a":{".":{},"f:x":{"f:y":{}}}})", R"({"f:a":{}})"},
  };
  for (const Operation& row : table) {
    const Set a(row.a);
    const Set b(row.b);
    SCOPED_TRACE(fmt::format("{} and {}", row.a, row.b));
    EXPECT_EQ(to_json(unite(a, b)), row.united);
    EXPECT_EQ(to_json(unite(b, a)), row.united);
    EXPECT_EQ(to_json(intersect(a, b)), row.common);
    EXPECT_EQ(to_json(intersect(b, a)), row.common);
    EXPECT_EQ(to_json(subtract(a, b)), row.without);
    EXPECT_EQ(to_json(subtract_trees(a, b)), row.without_trees);
  }
}

TEST(FieldSet, EqualityIsThatOfPaths) {
  EXPECT_TRUE(Set(R"({"f:b":{},"f:a":{"f:c":{}}})").set ==
              Set(R"({"f:a":{"f:c":{}},"f:b":{}})").set);
  EXPECT_FALSE(Set(R"({"f:a":{"f:c":{}}})").set == Set(R"({"f:a":{".":{},"f:c":{}}})").set);
  EXPECT_FALSE(Set(R"({"f:a":{}})").set == Set(R"({"f:b":{}})").set);
}

// Hence .spec.selector stands before .spec.ports[...].name in a conflict.
TEST(FieldSet, PathsOfALevelComeBeforeDeeperOnes) {
  EXPECT_THAT(
      paths_of(Set(
          R"({"f:spec":{"f:ports":{".":{},"k:{\"port\":80}":{".":{},"f:name":{}}},"f:selector":{}},
                               "f:data":{}})")),
      testing::ElementsAre(".data", ".spec.ports", ".spec.selector", ".spec.ports[port=80]",
                           ".spec.ports[port=80].name"));
}

}  // namespace field_set_test
}  // namespace muster::fields
