// For tests only: counts comparisons of texts, wherever they are made in the test's program. The
// linker sends every memcmp here: the test's CMakeLists.txt asks for it with
// `LINKER:--wrap=memcmp`. Included by one file of the program.
#pragma once

#include <cstddef>
#include <cstring>

namespace muster {
inline std::size_t comparisons = 0;
}

// NOLINTBEGIN(bugprone-reserved-identifier, misc-definitions-in-headers): the linker's names.
extern "C" int __real_memcmp(const void* a, const void* b, std::size_t size);
extern "C" int __wrap_memcmp(const void* a, const void* b, std::size_t size) {
  ++muster::comparisons;
  return __real_memcmp(a, b, size);
}
// NOLINTEND(bugprone-reserved-identifier, misc-definitions-in-headers)
