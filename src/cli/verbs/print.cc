#include "cli/verbs/print.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/terminal_text.h"
#include "cli/verbs/exit_code.h"

namespace muster::cli {

int complain(const Error& error, int exit_code) {
  fmt::print(stderr, "error: {}\n", plain_lines(error.message));
  return exit_code;
}

int misused(std::string_view what, std::string_view help) {
  fmt::print(stderr, "error: {}\n", plain_text(what));
  if (!help.empty()) fmt::print(stderr, "  help: {}\n", help);
  return kUsage;
}

}  // namespace muster::cli
