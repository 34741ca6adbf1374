#include "json/value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "json/testing.h"

namespace muster::json {
namespace value_test {

TEST(Value, ScalarsKeepTheirKind) {
  EXPECT_TRUE(Value().is_null());
  EXPECT_TRUE(Value::of(true).as_bool());
  EXPECT_EQ(Value::of(-7).as_int(), -7);
  EXPECT_EQ(Value::of(7U).kind(), Kind::kInt);
  EXPECT_EQ(Value::of(std::uint64_t{1} << 63).kind(), Kind::kUint);
  EXPECT_EQ(Value::of(std::uint64_t{5}).kind(), Kind::kInt);
  EXPECT_EQ(Value::of(2.5).as_double(), 2.5);
  EXPECT_EQ(Value::view("text").as_string(), "text");
}

TEST(Value, AnotherKindReadsAsNothing) {
  const Value text = Value::view("12");
  EXPECT_FALSE(text.as_bool());
  EXPECT_EQ(text.as_int(), 0);
  EXPECT_EQ(text.as_uint(), 0U);
  EXPECT_EQ(text.as_double(), 0);
  EXPECT_EQ(text.size(), 0U);
  EXPECT_TRUE(text.items().empty());
  EXPECT_TRUE(text.members().empty());
  EXPECT_EQ(text.find("a"), nullptr);
  EXPECT_EQ(Value::of(true).as_string(), "");
}

TEST(Value, IntegersCrossKindsOnlyWhenExact) {
  EXPECT_EQ(Value::of(3.0).as_int(), 3);
  EXPECT_EQ(Value::of(3.5).as_int(), 0);
  EXPECT_EQ(Value::of(1e30).as_int(), 0);
  EXPECT_EQ(Value::of(-0x1p63).as_int(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Value::of(-1).as_uint(), 0U);
  EXPECT_EQ(Value::of(0x1p63).as_uint(), std::uint64_t{1} << 63);
  EXPECT_EQ(Value::of(std::uint64_t{1} << 63).as_int(), 0);
}

TEST(Value, CopiesShareTheirNode) {
  Arena arena;
  const Value a = Value::object(arena);
  const Value b = a;
  b.set("x", Value::of(1));
  EXPECT_THAT(a, IsJson(R"({"x": 1})"));
}

TEST(Value, ArraysInsertEraseAndResize) {
  const Tree list("[1, 2, 3]");
  list.root.insert(0, Value::of(0));
  list.root.insert(4, Value::of(4));
  EXPECT_THAT(list.root, IsJson("[0, 1, 2, 3, 4]"));
  list.root.erase_item(1);
  list.root.resize(2);
  EXPECT_THAT(list.root, IsJson("[0, 2]"));
  list.root.resize(3);
  EXPECT_THAT(list.root, IsJson("[0, 2, null]"));
  EXPECT_TRUE(list.root.item(9).is_null());
}

TEST(Value, ObjectsKeepTheOrderOfMembers) {
  const Tree object(R"({"b": 1, "a": 2})");
  object.root.set("c", "text");
  object.root.set("b", Value::of(3));
  EXPECT_EQ(write(object), R"({"b":3,"a":2,"c":"text"})");
  EXPECT_TRUE(object.root.erase("a"));
  EXPECT_FALSE(object.root.erase("a"));
  EXPECT_EQ(write(object), R"({"b":3,"c":"text"})");
  object.root.set("a", Value());
  object.root.sort_keys();
  EXPECT_EQ(write(object), R"({"a":null,"b":3,"c":"text"})");
}

TEST(Value, SetCopiesKeyAndText) {
  Arena arena;
  const Value object = Value::object(arena);
  std::string key = "key";
  std::string text = "text";
  object.set(key, std::string_view(text));
  key = text = "gone";
  EXPECT_EQ(write(object), R"({"key":"text"})");
}

TEST(Value, PathsEndAtTheFirstGap) {
  const Tree pod(R"({"spec": {"template": {"spec": {"nodeName": "n"}}}})");
  EXPECT_EQ(pod.root.get({"spec", "template", "spec", "nodeName"}).as_string(), "n");
  EXPECT_TRUE(pod.root.get({"spec", "absent", "spec"}).is_null());
  EXPECT_TRUE(pod.root.get({"spec", "template", "spec", "nodeName", "below"}).is_null());
}

TEST(Value, ObjectAtAndArrayAtMakeWhatIsMissing) {
  const Tree root(R"({"a": {"x": 1}, "n": null})");
  root.root.object_at("a").set("y", Value::of(2));
  root.root.object_at("n").set("z", Value::of(3));
  root.root.array_at("list").push_back(Value::of(4));
  EXPECT_THAT(root.root, IsJson(R"({"a": {"x": 1, "y": 2}, "n": {"z": 3}, "list": [4]})"));
}

TEST(Value, ObjectAtAndArrayAtReplaceWhatIsOfAnotherKind) {
  const Tree root(R"({"a": 7, "b": [], "c": {}, "d": "text"})");
  for (const char* key : {"a", "b"}) root.root.object_at(key).set("x", Value::of(1));
  for (const char* key : {"c", "d"}) root.root.array_at(key).push_back(Value::of(1));
  EXPECT_THAT(root.root, IsJson(R"({"a": {"x": 1}, "b": {"x": 1}, "c": [1], "d": [1]})"));
}

std::string key_of(int i) { return fmt::format("key-{}", i); }

// Beyond 32 members the hash index is at work; this walks across its border in both
// directions.
TEST(Value, LargeObjectsFindTheirMembersThroughAllChanges) {
  Arena arena;
  const Value object = Value::object(arena);
  for (int i = 0; i < 300; ++i) object.set(key_of(i), Value::of(i));
  for (int i = 0; i < 300; i += 3) EXPECT_TRUE(object.erase(key_of(i)));
  object.sort_keys();
  for (int i = 300; i < 320; ++i) object.set(key_of(i), Value::of(i));
  EXPECT_EQ(object.size(), 220U);
  for (int i = 0; i < 320; ++i) {
    const Value* const found = object.find(key_of(i));
    ASSERT_EQ(found != nullptr, i >= 300 || i % 3 != 0) << i;
    EXPECT_EQ(found ? found->as_int() : i, i);
  }
  const std::size_t erased = object.erase_if([](const Member& m) { return m.value.as_int() > 9; });
  EXPECT_EQ(erased, 214U);
  EXPECT_THAT(object, IsJson(R"({"key-1":1,"key-2":2,"key-4":4,"key-5":5,"key-7":7,"key-8":8})"));
  for (int i = 0; i < 40; ++i) object.set(key_of(i), Value::of(-i));
  for (int i = 0; i < 40; ++i) EXPECT_EQ(object.get(key_of(i)).as_int(), -i);
  EXPECT_EQ(object.size(), 40U);
}

TEST(Value, EqualityIgnoresMemberOrderAndNumberKind) {
  const struct {
    const char* a;
    const char* b;
    bool equal;
  } rows[] = {
      {"1", "1.0", true},
      {"1", "true", false},
      {"9007199254740993", "9007199254740992.0", true},
      {"9007199254740993", "9007199254740992", false},
      {"18446744073709551615", "18446744073709551615", true},
      {"18446744073709551615", "-1", false},
      {"9223372036854775808", "9223372036854775808.0", true},
      {"9223372036854775807", "9223372036854775808", false},
      {"0", "-0.0", true},
      {R"({"a": 1, "b": [2]})", R"({"b": [2], "a": 1})", true},
      {R"({"a": 1})", R"({"a": 1, "b": null})", false},
      {R"({"a": null})", R"({"b": null})", false},
      {"[1, 2]", "[2, 1]", false},
      {"[]", "{}", false},
      {"null", "null", true},
      {R"("a")", R"("b")", false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(equal(Tree(row.a), Tree(row.b)), row.equal) << row.a << " " << row.b;
    EXPECT_EQ(equal(Tree(row.b), Tree(row.a)), row.equal) << row.b << " " << row.a;
  }
}

TEST(Value, CloneSharesNothing) {
  Arena arena;
  Value copy;
  {
    const Tree source(R"({"a": ["text", {"b": 1.5}], "n": null})");
    copy = clone(arena, source);
    source.root.get("a").push_back(Value::of(9));
    source.root.erase("n");
  }
  EXPECT_THAT(copy, IsJson(R"({"a": ["text", {"b": 1.5}], "n": null})"));
}

TEST(Arena, LargePiecesDoNotWasteTheCurrentBlock) {
  Arena arena;
  const auto* const before = static_cast<const char*>(arena.allocate(8, 8));
  arena.allocate(1 << 20, 8);
  const auto* const after = static_cast<const char*>(arena.allocate(8, 8));
  EXPECT_EQ(after - before, 8);
  EXPECT_EQ(arena.used(), 16U + (1 << 20));
}

TEST(Arena, KeepsWhatItIsGiven) {
  auto owned = std::make_shared<const std::string>("text");
  const std::weak_ptr<const std::string> watch = owned;
  {
    Arena arena;
    arena.keep(std::move(owned));
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(ValueDeathTest, ChangingAnotherKindIsAFault) {
  EXPECT_DEATH(Value::of(1).set("a", Value()), "not an object");
  EXPECT_DEATH(Value::of(1).push_back(Value()), "not an array");
  EXPECT_DEATH(Value::of(std::nan("")), "NaN");
}

}  // namespace value_test
}  // namespace muster::json
