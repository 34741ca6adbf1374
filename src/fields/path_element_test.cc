#include "fields/path_element.h"

#include <gmock/gmock.h>

#include "json/testing.h"

namespace muster::fields {
namespace path_element_test {

using json::Tree;
using json::Value;

std::string key_of(const PathElement& element) {
  std::string key;
  append_key(key, element);
  return key;
}

TEST(PathElement, HasAKeyPerKind) {
  const Tree port(R"({"containerPort":80,"protocol":"TCP"})");
  EXPECT_EQ(key_of(PathElement::field("spec")), "f:spec");
  EXPECT_EQ(key_of(PathElement::field("")), "f:");
  EXPECT_EQ(key_of(PathElement::key(port)), R"(k:{"containerPort":80,"protocol":"TCP"})");
  EXPECT_EQ(key_of(PathElement::item(Value::view("a"))), R"(v:"a")");
  EXPECT_EQ(key_of(PathElement::item(Value::of(2.5))), "v:2.5");
  EXPECT_EQ(key_of(PathElement::item(Value::of(true))), "v:true");
  EXPECT_EQ(key_of(PathElement::index(3)), "i:3");
}

TEST(PathElement, EscapesAsGoDoes) {
  EXPECT_EQ(key_of(PathElement::item(Value::view("<a>&\""))), R"(v:"\u003ca\u003e\u0026\"")");
}

TEST(PathElement, IsReadBackFromItsKey) {
  json::Arena arena;
  for (const std::string key :
       {"f:spec", "f:", "f:a:b", R"(k:{"name":"c"})", R"(k:{"a":1,"b":"x"})", R"(v:"a")", "v:1",
        "v:null", "i:-1", "i:12"}) {
    const auto element = parse_key(arena, key);
    ASSERT_TRUE(element.has_value() && element->has_value()) << key;
    EXPECT_EQ(key_of(**element), key);
  }
}

TEST(PathElement, SortsTheFieldsOfAKey) {
  json::Arena arena;
  EXPECT_EQ(key_of(**parse_key(arena, R"(k:{"b":"x","a":1})")), R"(k:{"a":1,"b":"x"})");
}

TEST(PathElement, UnknownKindsAreNothing) {
  json::Arena arena;
  const auto element = parse_key(arena, "x:future");
  ASSERT_TRUE(element.has_value());
  EXPECT_EQ(*element, std::nullopt);
}

TEST(PathElement, RefusesBrokenKeys) {
  json::Arena arena;
  for (const std::string_view key :
       {"", "f", "spec", "k:", "k:[1]", "k:{", "v:", "v:x", "i:", "i:1x"}) {
    EXPECT_FALSE(parse_key(arena, key).has_value()) << key;
  }
}

TEST(PathElement, AreOrderedByKindThenByValue) {
  json::Arena arena;
  const std::vector<std::string> ordered = {"f:",           "f:a",           "f:ab",
                                            "f:b",          R"(k:{"a":1})",  R"(k:{"a":1,"b":1})",
                                            R"(k:{"a":9})", R"(k:{"a":10})", R"(k:{"a":"1"})",
                                            R"(k:{"b":0})", "v:-1",          "v:1",
                                            "v:1.5",        "v:2",           R"(v:"")",
                                            R"(v:"a")",     "v:false",       "v:true",
                                            "i:1",          "i:9",           "i:10"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      const auto order = compare(**parse_key(arena, ordered[i]), **parse_key(arena, ordered[j]));
      EXPECT_TRUE(order == (i <=> j)) << ordered[i] << " " << ordered[j];
    }
  }
}

TEST(PathElement, NumbersAreComparedExactly) {
  const PathElement integer = PathElement::item(Value::of(std::int64_t{9007199254740993}));
  const PathElement rounded = PathElement::item(Value::of(9007199254740992.0));
  EXPECT_TRUE(compare(integer, rounded) > 0);
  EXPECT_TRUE(PathElement::item(Value::of(1)) == PathElement::item(Value::of(1.0)));
}

TEST(Path, IsWrittenAsInMessages) {
  const Tree port(R"({"containerPort":80,"protocol":"T\"P"})");
  const std::vector<PathElement> path = {PathElement::field("spec"), PathElement::field("ports"),
                                         PathElement::key(port), PathElement::field("name")};
  EXPECT_EQ(to_text(path), R"(.spec.ports[containerPort=80,protocol="T\"P"].name)");
  EXPECT_EQ(to_text(PathElement::item(Value::view("a<"))), R"([="a<"])");
  EXPECT_EQ(to_text(PathElement::item(Value::of(5))), "[=5]");
  EXPECT_EQ(to_text(PathElement::index(3)), "[3]");
}

}  // namespace path_element_test
}  // namespace muster::fields
