// Two JSON texts, one line each: a merge patch applied twice does what it does once.
#include <algorithm>

#include "base/result.h"
#include "json/parse.h"
#include "json/patch.h"
#include "json/write.h"

using namespace muster::json;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), text.size());
  Arena arena;
  const auto target = parse(arena, text.substr(0, line));
  const auto patch = parse(arena, text.substr(line));
  if (!target || !patch) return 0;
  const std::string before = write(*patch);
  const Value once = apply_merge_patch(arena, *target, *patch);
  const std::string result = write(once);
  MUSTER_ASSERT(parse(arena, result).has_value(), "the result is no sound tree");
  const Value twice = apply_merge_patch(arena, once, *patch);
  MUSTER_ASSERT(write(twice) == result, "the second time does something else");
  MUSTER_ASSERT(write(*patch) == before, "the patch was changed");
  return 0;
}
