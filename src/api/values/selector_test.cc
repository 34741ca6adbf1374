#include "api/values/selector.h"

#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::api {
namespace selector_test {

json::Value parsed(json::Arena& arena, std::string_view text) {
  const auto value = json::parse(arena, text);
  EXPECT_TRUE(value) << text;
  return value.value_or(json::Value());
}

// The pods a, b and c of the table below that the selector picks.
std::string picked(const LabelSelector& selector) {
  json::Arena arena;
  std::string names;
  if (selector.matches(parsed(arena, R"({"app":"x","tier":"3"})"))) names += 'a';
  if (selector.matches(parsed(arena, R"({"app":"y","tier":"gold"})"))) names += 'b';
  if (selector.matches(json::Value())) names += 'c';
  return names;
}

TEST(LabelSelector, PicksByText) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "abc"},
      {"app=x", "a"},
      {"app==x", "a"},
      {"app!=x", "bc"},
      {"app", "ab"},
      {"!app", "c"},
      {"app in (x,y)", "ab"},
      {"app notin (x)", "bc"},
      {"app in (x),tier", "a"},
      {"tier>2", "a"},
      {"tier<5", "a"},
      {"tier>3", ""},
      {"app=x,app=y", ""},
      {" app = x ", "a"},
      {"app in ()", ""},
      {"app notin (,x)", "bc"},
      {"app=", ""},
      {"!in", "abc"},
      {"in", ""},
      {"app in (in)", ""},
  };
  for (const auto& [text, names] : cases) {
    const auto selector = LabelSelector::parse(text);
    ASSERT_TRUE(selector) << text << ": " << selector.error().message;
    EXPECT_EQ(picked(*selector), names) << text;
  }
}

TEST(LabelSelector, SaysWhatIsWrongInUpstreamsWords) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"app in x", "unable to parse requirement: found 'x' expected: '('"},
      {"=x", "found '=', expected: !, identifier, or 'end of string'"},
      {"app=x y", "found 'y', expected: ',' or 'end of string'"},
      {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
      {"a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"},
      {"a in (b", "unable to parse requirement: found '', expected: ',' or ')'"},
      {"a in (b,=", "unable to parse requirement: found '=', expected: ',', or identifier"},
      {"a,", "found '', expected: identifier after ','"},
      {"a=)", "unable to parse requirement: found ')', expected: identifier"},
      {"!", "unable to parse requirement: found '', expected: identifier"},
      {"!a=b", "found '=', expected: ',' or 'end of string'"},
      {"a>b",
       "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, "
       "the value must "
       "be an integer"},
      {"app=%%",
       "unable to parse requirement: values[0][app]: Invalid value: \"%%\": a valid label must be "
       "an empty string or "
       "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
       "alphanumeric character "
       "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
       "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
      {"a/b/c=d",
       "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a valid label key must "
       "consist of alphanumeric "
       "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
       "'MyName',  or "
       "'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an "
       "optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"},
  };
  for (const auto& [text, message] : cases) {
    const auto selector = LabelSelector::parse(text);
    ASSERT_FALSE(selector) << text;
    EXPECT_EQ(selector.error().code, Code::kBadRequest);
    EXPECT_EQ(selector.error().message, message) << text;
  }
}

TEST(LabelSelector, PrintsSorted) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"z=1,a in (q,b),!f", "a in (b,q),!f,z=1"},
      {"a!=b", "a!=b"},
      {"a notin (b)", "a notin (b)"},
      {"a>1,b<2,c", "a>1,b<2,c"},
      {"", ""},
  };
  for (const auto& [text, printed] : cases) EXPECT_EQ(LabelSelector::parse(text)->text(), printed);
}

// Twenty of them: a sort of so many that is not stable would shuffle them.
TEST(LabelSelector, KeepsTheOrderOfRequirementsOnOneKey) {
  std::string text = "a";
  for (char value = 'b'; value < 'u'; ++value) text += std::string(",a!=") + value;
  EXPECT_EQ(LabelSelector::parse(text)->text(), text);
}

TEST(LabelSelector, OfAnObject) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"null", ""},
      {"{}", "abc"},
      {R"({"matchLabels":{"app":"x"}})", "a"},
      {R"({"matchExpressions":[{"key":"app","operator":"In","values":["x","y"]}]})", "ab"},
      {R"({"matchExpressions":[{"key":"app","operator":"NotIn","values":["x"]}]})", "bc"},
      {R"({"matchExpressions":[{"key":"app","operator":"Exists"}],"matchLabels":{"tier":"gold"}})",
       "b"},
      {R"({"matchExpressions":[{"key":"app","operator":"DoesNotExist"}]})", "c"},
  };
  json::Arena arena;
  for (const auto& [text, names] : cases) {
    const auto selector = LabelSelector::from_object(parsed(arena, text));
    ASSERT_TRUE(selector) << text;
    EXPECT_EQ(picked(*selector), names) << text;
  }
  EXPECT_TRUE(LabelSelector::from_object(parsed(arena, "{}"))->matches_everything());
  EXPECT_FALSE(LabelSelector::from_object(json::Value())->matches_everything());
  EXPECT_EQ(LabelSelector::from_object(parsed(arena, cases[5].first))->text(), "app,tier=gold");
}

TEST(LabelSelector, RefusesAnUnsoundObject) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"matchExpressions":[{"key":"a","operator":"Near","values":["x"]}]})",
       R"("Near" is not a valid label selector operator)"},
      {R"({"matchExpressions":[{"key":"a","operator":"In"}]})",
       "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
      {R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["x"]}]})",
       R"(values: Invalid value: ["x"]: values set must be empty for exists and does not exist)"},
  };
  json::Arena arena;
  for (const auto& [text, message] : cases) {
    const auto selector = LabelSelector::from_object(parsed(arena, text));
    ASSERT_FALSE(selector) << text;
    EXPECT_EQ(selector.error().message, message);
  }
}

}  // namespace selector_test
}  // namespace muster::api
