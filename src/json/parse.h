// JSON text to Value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace muster::json {

// Deeper documents are refused (S4: nesting 256).
inline constexpr int kMaxDepth = 256;

// More duplicates than these are not reported, as upstream: nobody reads on.
inline constexpr std::size_t kMaxReportedDuplicates = 100;

struct ParseReport {
  // Paths of members that a later member of the same name replaced, in the order met: "data.a",
  // "spec.containers[0].name". The later value wins, at the place of the first.
  std::vector<std::string> duplicates;
};

// Strings are copied into the arena. Fails with kBadRequest on malformed text, trailing text,
// invalid UTF-8, too deep nesting. Messages are in the words of Go's encoding/json where a client
// sees them ("unexpected end of JSON input", "invalid character 'x' looking for beginning of
// value").
Result<Value> parse(Arena& arena, std::string_view text, ParseReport* report = nullptr);

// Whether parse() would succeed, without a tree: for text that is kept as it is.
bool is_json(std::string_view text);

}  // namespace muster::json
