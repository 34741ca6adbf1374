#include "base/result.h"

#include <cstdio>
#include <cstdlib>

namespace muster {

// Not by way of the log: whatever is broken, this line must come out.
void assertion_failed(const char* condition, const char* why, const char* file, int line) {
  std::fprintf(stderr, "muster: %s:%d: assertion failed: %s: %s\n", file, line, condition, why);
  std::abort();
}

}  // namespace muster
