#include "cli/print.h"

#include <fmt/format.h>

#include <cstdio>

namespace muster::cli {

int complain(const Error& error, int exit_code) {
  fmt::print(stderr, "error: {}\n", error.message);
  return exit_code;
}

}  // namespace muster::cli
