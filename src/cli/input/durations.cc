#include "cli/input/durations.h"

#include <fmt/format.h>

#include "base/duration.h"
#include "base/number.h"
#include "base/terminal_text.h"

namespace muster::cli {

Result<Duration> parse_duration(std::string_view text, std::string_view flag) {
  const bool plain = parse_number<std::int64_t>(text).has_value();
  const auto span = muster::parse_duration(plain ? std::string(text) + "s" : std::string(text));
  if (span) return *span;
  return fail(Code::kInvalid, fmt::format("{}: \"{}\" is no span of time; 90s, 1m30s and 2h are",
                                          flag, plain_text(text)));
}

}  // namespace muster::cli
