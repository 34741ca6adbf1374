// YAML to Value and back, typing plain scalars as kubectl does, with source positions.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace muster::json {

// Bounds against documents that are small on the wire and large in memory.
inline constexpr std::size_t kMaxYamlText = 16 * 1024 * 1024;
inline constexpr std::size_t kMaxYamlAliasNodes = 200'000;             // made by expanding aliases
inline constexpr std::size_t kMaxYamlAliasText = 8 * 1024 * 1024;      // likewise, bytes of text
inline constexpr std::size_t kMaxYamlPositionText = 16 * 1024 * 1024;  // paths in `positions`

struct Position {
  int line = 0;    // from 1
  int column = 0;  // from 1, in bytes
};

// One document of a YAML stream. `positions` maps a field path ("spec.replicatedJobs[2].name") to
// where its value stands, and the path followed by '#' to where its key stands; "" is the root.
// What an alias or a merge brought in has no positions of its own.
struct RepeatedKey {
  std::string key;
  Position at;  // of the later one
};

struct YamlDocument {
  Value root;
  std::map<std::string, Position, std::less<>> positions;
  std::vector<std::string> duplicates;  // `line 6: key "q" already set in map`
  std::vector<RepeatedKey> repeated;    // the same without those over a merge; with positions only
  Position start;
};

struct YamlOptions {
  bool positions = true;  // leave out if nobody will ask: they cost more than the tree
};

// All documents of a stream; empty ones are left out. JSON is YAML. Alias expansion, nesting and
// text size are capped (S4). Fails with kBadRequest and a message that ends in line and column.
Result<std::vector<YamlDocument>> parse_yaml(Arena& arena, std::string_view text,
                                             YamlOptions options = {});

// Where the value at a path stands, or else the nearest enclosing value that has a position.
Position find_position(const YamlDocument& document, std::string_view path);

// Block style as kubectl prints it, keys in member order, strings quoted where a YAML reader would
// type them otherwise. Ends in a line break. parse_yaml() gives the same value back.
std::string write_yaml(Value value);

}  // namespace muster::json
