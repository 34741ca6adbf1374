// Two JSON texts, one line each: a JSON patch leaves a tree that can still be written and read, and
// leaves the patch alone.
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
  auto target = parse(arena, text.substr(0, line));
  const auto patch = parse(arena, text.substr(line));
  if (!target || !patch) return 0;
  const std::string before = write(*patch);
  if (apply_json_patch(*target, *patch)) {
    const auto again = parse(arena, write(*target));
    MUSTER_ASSERT(again && equal(*again, *target), "the result is no sound tree");
  }
  MUSTER_ASSERT(write(*patch) == before, "the patch was changed");
  return 0;
}
