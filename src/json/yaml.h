// YAML to Value and back, typing plain scalars as kubectl does, with source positions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace muster::json {

struct Position {
  int line = 0;    // from 1
  int column = 0;  // from 1
};

// One document of a YAML stream. `positions` maps a field path ("spec.replicatedJobs[2].name") to
// where its value stands, and the path followed by '#' to where its key stands.
struct YamlDocument {
  Value root;
  std::map<std::string, Position, std::less<>> positions;
  std::vector<std::string> duplicates;  // `line 6: key "q" already set in map`
  Position start;
};

// All documents of a stream; empty ones are left out. JSON is YAML. Alias expansion, nesting and
// text size are capped (S4). Fails with kBadRequest and a message that ends in line and column.
Result<std::vector<YamlDocument>> parse_yaml(Arena& arena, std::string_view text);

// Block style, keys in member order, strings quoted where a YAML reader would type them otherwise.
std::string write_yaml(Value value);

}  // namespace muster::json
