// Gives memory that was freed back to the machine. The allocator keeps it otherwise: after a burst
// of large answers the process would stay as large as it ever was.
#pragma once

#include <cstddef>

#include "base/loop.h"

namespace muster::engine {

// Decides when the heap is worth a trim, which takes a walk through all of it.
class TrimDecision {
 public:
  // Less is not worth it.
  static constexpr std::size_t kWorthwhile = std::size_t{64} << 20;

  // `free`: bytes that the allocator holds and nobody uses. Trimmed or not, they are still counted
  // there, so what counts is by how much they have grown since.
  bool is_due(std::size_t free) {
    if (free < trimmed_) trimmed_ = free;
    if (free - trimmed_ < kWorthwhile) return false;
    trimmed_ = free;
    return true;
  }

 private:
  std::size_t trimmed_ = 0;
};

// Looks at the heap now and then, on the loop and for as long as that runs.
void keep_heap_small(Loop& loop);

}  // namespace muster::engine
