// Two JSON texts, one line each, under rules by which every list merges: lists "s..." as scalars,
// others by "name". The result can be written and read, and the patch is left alone.
#include <algorithm>

#include "base/result.h"
#include "json/parse.h"
#include "json/strategic.h"
#include "json/write.h"

using namespace muster::json;

namespace {

struct Rules final : MergeRules {
  explicit Rules(std::string_view merge_key, const Rules* scalars)
      : key(merge_key), other(scalars) {}
  const MergeRules* member(std::string_view name) const override {
    return other && name.starts_with('s') ? other : this;
  }
  const MergeRules* element() const override { return this; }
  bool merges() const override { return true; }
  bool replaces() const override { return false; }
  bool retain_keys() const override { return false; }
  std::string_view merge_key() const override { return key; }

  std::string_view key;
  const Rules* other;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Rules scalars("", nullptr);
  static const Rules rules("name", &scalars);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), text.size());
  Arena arena;
  const auto target = parse(arena, text.substr(0, line));
  const auto patch = parse(arena, text.substr(line));
  if (!target || !patch) return 0;
  const std::string before = write(*patch);
  if (const auto merged = apply_strategic_merge(arena, *target, *patch, rules)) {
    const auto again = parse(arena, write(*merged));
    MUSTER_ASSERT(again && equal(*again, *merged), "the result is no sound tree");
  }
  MUSTER_ASSERT(write(*patch) == before, "the patch was changed");
  return 0;
}
