// For tests only: trees from text, and text to compare trees by.
//
//   const Tree pod(R"({"spec": {"nodeName": "n1"}})");
//   EXPECT_EQ(pod.root.get({"spec", "nodeName"}).as_string(), "n1");
//   EXPECT_THAT(pod.root.get("spec"), IsJson(R"({"nodeName": "n1"})"));
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"

namespace muster::json {

// A tree together with its memory. The text must be JSON.
struct Tree {
  explicit Tree(std::string_view text) {
    Result<Value> parsed = parse(arena, text);
    MUSTER_ASSERT(parsed.has_value(), parsed.error().message.c_str());
    root = *parsed;
  }
  operator Value() const { return root; }

  Arena arena;
  Value root;
};

// Equal as JSON values: the order of members does not matter, that of items does.
MATCHER_P(IsJson, text, "is the JSON " + std::string(text)) {
  const Tree expected(text);
  return equal(arg, expected.root);
}

// How GoogleTest shows a Value.
inline void PrintTo(const Value& value, std::ostream* out) { *out << write(value); }

}  // namespace muster::json
