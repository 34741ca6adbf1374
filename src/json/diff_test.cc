#include "json/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/patch.h"
#include "json/testing.h"

namespace muster::json {
namespace diff_test {

TEST(JsonDiff, SaysWhatChangedAndLeadsThere) {
  const struct {
    const char* before;
    const char* after;
    const char* patch;
  } kRows[] = {
      {R"({"a": 1})", R"({"a": 1})", "[]"},
      {R"({"a": 1, "b": 2})", R"({"b": 2, "a": 1})", "[]"},
      {R"({})", R"({"a": {"b": []}})", R"([{"op": "add", "path": "/a", "value": {"b": []}}])"},
      {R"({"a": 1})", R"({})", R"([{"op": "remove", "path": "/a"}])"},
      {R"({"a": 1})", R"({"a": null})", R"([{"op": "replace", "path": "/a", "value": null}])"},
      {R"({"a": 1})", R"({"a": "1"})", R"([{"op": "replace", "path": "/a", "value": "1"}])"},
      {R"({"a": {"x/y~z": 1}})", R"({"a": {"x/y~z": 2}})",
       R"([{"op": "replace", "path": "/a/x~1y~0z", "value": 2}])"},
      {R"({"a": [{"n": 1}, {"n": 2}]})", R"({"a": [{"n": 1}, {"n": 3, "m": 4}]})",
       R"([{"op": "replace", "path": "/a/1/n", "value": 3},
           {"op": "add", "path": "/a/1/m", "value": 4}])"},
      {R"({"a": [1, 2, 3]})", R"({"a": [4]})",
       R"([{"op": "replace", "path": "/a/0", "value": 4}, {"op": "remove", "path": "/a/2"},
           {"op": "remove", "path": "/a/1"}])"},
      {R"({"a": [1]})", R"({"a": [1, {"b": 2}, 3]})",
       R"([{"op": "add", "path": "/a/-", "value": {"b": 2}},
           {"op": "add", "path": "/a/-", "value": 3}])"},
      {R"({"a": {}})", R"({"a": []})", R"([{"op": "replace", "path": "/a", "value": []}])"},
  };
  for (const auto& row : kRows) {
    const Tree before(row.before), after(row.after);
    Arena arena;
    const Value patch = make_json_patch(arena, before.root, after.root);
    EXPECT_THAT(patch, IsJson(row.patch));
    Value target = clone(arena, before.root);
    ASSERT_TRUE(apply_json_patch(target, patch));
    EXPECT_THAT(target, IsJson(row.after));
  }
}

}  // namespace diff_test
}  // namespace muster::json
