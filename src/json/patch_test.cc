#include "json/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/testing.h"

namespace muster::json {
namespace patch_test {

using testing::ElementsAre;

// The target after the patch, or the error's message.
std::string patched(std::string_view target, std::string_view patch) {
  Tree tree(target);
  const Tree changes(patch);
  const std::string before = write(changes);
  const Status status = apply_json_patch(tree.root, changes);
  EXPECT_EQ(write(changes), before) << "the patch itself was changed";
  return status ? write(tree) : "error: " + status.error().message;
}

constexpr const char* kRejected =
    "error: the server rejected our request due to an error in our request";

struct Row {
  const char* name;
  const char* target;
  const char* patch;
  const char* result;
};

TEST(JsonPatch, Operations) {
  const Row rows[] = {
      {"add a member", R"({"a":1})", R"([{"op":"add","path":"/b","value":[2]}])",
       R"({"a":1,"b":[2]})"},
      {"add replaces", R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
      {"add inserts", "[1,2]", R"([{"op":"add","path":"/1","value":9}])", "[1,9,2]"},
      {"add at the end", "[1,2]", R"([{"op":"add","path":"/2","value":9}])", "[1,2,9]"},
      {"add with dash", "[1,2]", R"([{"op":"add","path":"/-","value":9}])", "[1,2,9]"},
      {"add without value", "{}", R"([{"op":"add","path":"/a"}])", R"({"a":null})"},
      {"remove a member", R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
      {"remove an item", "[1,2,3]", R"([{"op":"remove","path":"/1"}])", "[1,3]"},
      {"replace adds what is missing", "{}", R"([{"op":"replace","path":"/a","value":1}])",
       R"({"a":1})"},
      {"replace an item", "[1,2]", R"([{"op":"replace","path":"/0","value":9}])", "[9,2]"},
      {"replace the whole", R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])",
       R"({"b":2})"},
      {"move", R"({"a":{"x":1},"b":{}})", R"([{"op":"move","from":"/a/x","path":"/b/y"}])",
       R"({"a":{},"b":{"y":1}})"},
      {"move within a list", "[1,2,3]", R"([{"op":"move","from":"/0","path":"/2"}])", "[2,3,1]"},
      {"copy", R"({"a":{"x":1}})",
       R"([{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/y","value":2}])",
       R"({"a":{"x":1},"b":{"x":1,"y":2}})"},
      {"copy into itself", R"({"a":{"x":1}})", R"([{"op":"copy","from":"/a","path":"/a/y"}])",
       R"({"a":{"x":1,"y":{"x":1}}})"},
      {"copy of a missing member is null", "{}", R"([{"op":"copy","from":"/a","path":"/b"}])",
       R"({"b":null})"},
      {"test", R"({"a":[1,{"b":2}]})", R"([{"op":"test","path":"/a","value":[1,{"b":2}]}])",
       R"({"a":[1,{"b":2}]})"},
      {"test null on a missing member", "{}", R"([{"op":"test","path":"/a","value":null}])", "{}"},
      {"test without value on a missing member", "{}", R"([{"op":"test","path":"/a"}])", "{}"},
      {"test the whole", "[1]", R"([{"op":"test","path":"","value":[1]}])", "[1]"},
      {"escapes in pointers", R"({"a/b":{"~c":1}})", R"([{"op":"remove","path":"/a~1b/~0c"}])",
       R"({"a/b":{}})"},
      {"escapes are read once", "{}", R"([{"op":"add","path":"/~01~1~","value":1}])",
       R"({"~1/~":1})"},
      {"empty key", "{}", R"([{"op":"add","path":"/","value":1}])", R"({"":1})"},
      {"text before the first slash", "{}", R"([{"op":"add","path":"x/a","value":1}])",
       R"({"a":1})"},
      {"negative index", "[1,2,3]", R"([{"op":"replace","path":"/-1","value":9}])", "[1,2,9]"},
      {"negative index of an addition", "[1,2]", R"([{"op":"add","path":"/-1","value":9}])",
       "[1,2,9]"},
      {"negative index to the front", "[1,2]", R"([{"op":"add","path":"/-3","value":9}])",
       "[9,1,2]"},
      {"index with sign and zeros", "[1,2]", R"([{"op":"remove","path":"/+01"}])", "[1]"},
      {"no operations", "{}", "[]", "{}"},
      {"null", "{}", "null", "{}"},
  };
  for (const Row& row : rows) EXPECT_EQ(patched(row.target, row.patch), row.result) << row.name;
}

TEST(JsonPatch, RejectedOperations) {
  const Row rows[] = {
      {"remove what is missing", "{}", R"([{"op":"remove","path":"/a"}])", nullptr},
      {"remove the whole", "{}", R"([{"op":"remove","path":""}])", nullptr},
      {"add the whole", "{}", R"([{"op":"add","path":"","value":{}}])", nullptr},
      {"a scalar for the whole", "{}", R"([{"op":"replace","path":"","value":1}])", nullptr},
      {"test fails", R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])", nullptr},
      {"below nothing", "{}", R"([{"op":"add","path":"/a/b","value":1}])", nullptr},
      {"below null", R"({"a":null})", R"([{"op":"add","path":"/a/b","value":1}])", nullptr},
      {"below a scalar", R"({"a":1})", R"([{"op":"add","path":"/a/b","value":1}])", nullptr},
      {"past the end", "[1]", R"([{"op":"add","path":"/2","value":1}])", nullptr},
      {"replace past the end", "[1]", R"([{"op":"replace","path":"/1","value":1}])", nullptr},
      {"replace with dash", "[1]", R"([{"op":"replace","path":"/-","value":1}])", nullptr},
      {"too far below zero", "[1]", R"([{"op":"add","path":"/-3","value":1}])", nullptr},
      {"index is no number", "[1]", R"([{"op":"add","path":"/x","value":1}])", nullptr},
      {"index with two signs", "[1]", R"([{"op":"remove","path":"/+-1"}])", nullptr},
      {"move of nothing", "{}", R"([{"op":"move","from":"/a","path":"/b"}])", nullptr},
      {"move into itself", R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])", nullptr},
      {"copy of the whole", "{}", R"([{"op":"copy","from":"","path":"/a"}])", nullptr},
      {"unknown operation", "{}", R"([{"op":"bogus","path":"/a"}])", nullptr},
      {"no operation", "{}", R"([{"path":"/a"}])", nullptr},
      {"no path", "{}", R"([{"op":"remove"}])", nullptr},
      {"null operation", "{}", "[null]", nullptr},
      {"move without from", R"({"a":1})", R"([{"op":"move","path":"/a"}])", nullptr},
  };
  for (const Row& row : rows) EXPECT_EQ(patched(row.target, row.patch), kRejected) << row.name;
}

TEST(JsonPatch, FormIsCheckedFirst) {
  const std::string prefix = "error: error decoding patch: json: cannot unmarshal ";
  EXPECT_EQ(patched("{}", R"({"not":"a list"})"),
            prefix + "object into Go value of type []handlers.jsonPatchOp");
  EXPECT_EQ(patched("{}", "[1]"), prefix + "number into Go value of type handlers.jsonPatchOp");
  EXPECT_EQ(patched("{}", R"([{"op":1}])"),
            prefix + "number into Go struct field jsonPatchOp.op of type string");
  EXPECT_EQ(patched("{}", R"([{"op":"add","path":[]}])"),
            prefix + "array into Go struct field jsonPatchOp.path of type string");
}

TEST(JsonPatch, CodesOfFailures) {
  Tree target("{}");
  const auto code = [&](std::string_view patch) {
    return apply_json_patch(target.root, Tree(patch)).error().code;
  };
  EXPECT_EQ(code("{}"), Code::kBadRequest);
  EXPECT_EQ(code(R"([{"op":"x","path":"/a"}])"), Code::kInvalid);
}

TEST(JsonPatch, OperationsHaveALimit) {
  Tree target("{}");
  const Tree patch("[]");
  const Tree operation(R"({"op":"add","path":"/a","value":1})");
  for (std::size_t i = 0; i < kMaxPatchOperations; ++i) patch.root.push_back(operation);
  EXPECT_TRUE(apply_json_patch(target.root, patch));
  patch.root.push_back(operation);
  const Status status = apply_json_patch(target.root, patch);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kTooLarge);
  EXPECT_EQ(status.error().message,
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, "
            "got 10001");
}

TEST(JsonPatch, CopiesCannotGrowWithoutBound) {
  Tree target(R"({"a":"0123456789"})");
  const Tree patch("[]");
  // {"a":x} becomes {"a":x,"b":x}, moved below "a", again and again: doubling each time.
  const Tree copy(R"({"op":"copy","from":"/a","path":"/b"})");
  const Tree wrap(R"({"op":"add","path":"/c","value":{}})");
  const Tree into_a(R"({"op":"move","from":"/a","path":"/c/a"})");
  const Tree into_b(R"({"op":"move","from":"/b","path":"/c/b"})");
  const Tree back(R"({"op":"move","from":"/c","path":"/a"})");
  for (int i = 0; i < 40; ++i)
    for (const Tree* const step : {&copy, &wrap, &into_a, &into_b, &back})
      patch.root.push_back(*step);
  EXPECT_FALSE(apply_json_patch(target.root, patch));
}

TEST(JsonPatch, NestingHasALimit) {
  // Each round wraps the value in one more object.
  const auto wrap = [](int rounds) {
    const Tree patch("[]");
    const Tree add(R"({"op":"add","path":"/b","value":{}})");
    const Tree into(R"({"op":"move","from":"/a","path":"/b/a"})");
    const Tree back(R"({"op":"move","from":"/b","path":"/a"})");
    for (int i = 0; i < rounds; ++i)
      for (const Tree* const step : {&add, &into, &back}) patch.root.push_back(*step);
    Tree target(R"({"a":{}})");
    return apply_json_patch(target.root, patch).has_value();
  };
  EXPECT_TRUE(wrap(kMaxDepth - 2));
  EXPECT_FALSE(wrap(kMaxDepth - 1));
}

TEST(JsonPatch, UnknownMembersAreNamed) {
  EXPECT_THAT(unknown_patch_members(Tree(R"([{"op":"a","foo":1,"path":"","bar":2},{"OP":1}])")),
              ElementsAre("[0].foo", "[0].bar", "[1].OP"));
}

std::string merged(std::string_view target, std::string_view patch) {
  Tree tree(target);
  const Tree changes(patch);
  const std::string before = write(changes);
  const std::string after = write(apply_merge_patch(tree.arena, tree, changes));
  EXPECT_EQ(write(changes), before) << "the patch itself was changed";
  return after;
}

TEST(MergePatch, Table) {
  const Row rows[] = {
      {"null deletes", R"({"a":1,"b":2})", R"({"a":null})", R"({"b":2})"},
      {"null of what is absent", R"({"b":2})", R"({"a":null})", R"({"b":2})"},
      {"objects merge", R"({"a":{"x":1,"y":2}})", R"({"a":{"y":null,"z":3}})",
       R"({"a":{"x":1,"z":3}})"},
      {"lists replace", R"({"a":[1,2]})", R"({"a":[3]})", R"({"a":[3]})"},
      {"scalars replace", R"({"a":{"x":1}})", R"({"a":"s"})", R"({"a":"s"})"},
      {"nulls in new objects are dropped", "{}", R"({"a":{"x":null,"y":{"z":null}}})",
       R"({"a":{"y":{}}})"},
      {"nulls in new lists", "{}", R"({"a":[null,{"x":null,"y":1},[null,{"z":null}]]})",
       R"({"a":[null,{"y":1},[null,{}]]})"},
      {"nulls in a list over a list", R"({"a":[1]})", R"({"a":[null,{"x":null}]})",
       R"({"a":[null,{}]})"},
      {"nulls in a list over an object", R"({"a":{}})", R"({"a":[{"x":null}]})",
       R"({"a":[{"x":null}]})"},
      {"an object over a scalar", R"({"a":1})", R"({"a":{"x":null,"y":1}})", R"({"a":{"y":1}})"},
      {"an object over null", R"({"a":null})", R"({"a":{"x":null,"y":1}})", R"({"a":{"y":1}})"},
      {"null stays in the target", R"({"a":null})", R"({"b":1})", R"({"a":null,"b":1})"},
      {"nothing", R"({"a":1})", "{}", R"({"a":1})"},
  };
  for (const Row& row : rows) EXPECT_EQ(merged(row.target, row.patch), row.result) << row.name;
}

TEST(MergePatch, MustBeAnObject) {
  EXPECT_TRUE(check_merge_patch(Tree("{}")));
  const Status status = check_merge_patch(Tree("[]"));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kBadRequest);
  EXPECT_EQ(status.error().message,
            "error decoding patch: json: cannot unmarshal array into Go value of type "
            "map[string]interface {}");
}

}  // namespace patch_test
}  // namespace muster::json
