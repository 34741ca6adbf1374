#include "engine/heap_trim.h"

#include <malloc.h>

namespace muster::engine {
namespace {

// Often enough that a burst is forgotten soon, and seldom enough to cost nothing.
constexpr Duration kEvery = std::chrono::seconds(5);

void look(Loop& loop, TrimDecision decision) {
  if (decision.is_due(::mallinfo2().fordblks)) ::malloc_trim(0);
  loop.after(kEvery, [&loop, decision] { look(loop, decision); });
}

}  // namespace

void keep_heap_small(Loop& loop) { look(loop, TrimDecision()); }

}  // namespace muster::engine
