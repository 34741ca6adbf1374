// Two field sets in one input, apart by a newline: reading, writing, and the laws of sets.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fields/document_set.h"
#include "fields/fields_v1.h"
#include "fields/testing.h"
#include "json/parse.h"

namespace muster::fields {
namespace {

FieldSet read(json::Arena& arena, std::string_view text) {
  const Result<json::Value> tree = json::parse(arena, text);
  if (!tree) return {};
  Result<FieldSet> set = parse_fields(arena, *tree);
  return set ? *std::move(set) : FieldSet();
}

void check_round_trip(json::Arena& arena, const FieldSet& set) {
  const std::string text = to_json(set);
  const FieldSet again = read(arena, text);
  MUSTER_ASSERT(again == set, "a written set reads as itself");
  MUSTER_ASSERT(to_json(again) == text, "writing is stable");
}

void check_laws(const FieldSet& a, const FieldSet& b) {
  MUSTER_ASSERT(unite(a, b) == unite(b, a), "union commutes");
  MUSTER_ASSERT(intersect(a, b) == intersect(b, a), "intersection commutes");
  MUSTER_ASSERT(unite(a, a) == a && intersect(a, a) == a, "both are idempotent");
  MUSTER_ASSERT(subtract(a, a).empty() && subtract_trees(a, a).empty(),
                "nothing is left of itself");
  MUSTER_ASSERT(intersect(subtract(a, b), b).empty(), "what was taken out is out");
  MUSTER_ASSERT(unite(subtract(a, b), intersect(a, b)) == a, "the two parts make the whole");
  MUSTER_ASSERT(subtract(unite(a, b), b) == subtract(a, b), "what came in goes again");
  MUSTER_ASSERT(subtract_trees(subtract(a, b), b) == subtract_trees(a, b), "trees hold the paths");
  for_each_path(a, [&](std::span<const PathElement> path) {
    MUSTER_ASSERT(a.has(path), "every path is in its set");
    MUSTER_ASSERT(subtract(a, b).has(path) == !b.has(path), "difference by paths");
  });
}

void check_with_schema(FieldSet set) {
  const FieldSet parents = with_parent_fields(ThingKind::type(), set);
  MUSTER_ASSERT(intersect(parents, set) == set, "parents are only added");
  collapse_atomics(ThingKind::type(), set);
  FieldSet again = set;
  collapse_atomics(ThingKind::type(), again);
  MUSTER_ASSERT(again == set, "once is enough");
}

}  // namespace
}  // namespace muster::fields

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::fields;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t split = std::min(input.find('\n'), input.size());
  muster::json::Arena arena;
  const FieldSet a = read(arena, input.substr(0, split));
  const FieldSet b = read(arena, input.substr(std::min(split + 1, input.size())));
  check_round_trip(arena, a);
  check_laws(a, b);
  check_with_schema(a);
  return 0;
}
