#include "agent/inputs/expand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "agent/inputs/limits.h"

namespace muster::agent {
namespace {

// `lookup` gets the name and the reference as it is written.
template <class Lookup>
std::optional<std::string> replace_references(std::string_view text, std::size_t most,
                                              const Lookup& lookup) {
  std::string out;
  out.reserve(std::min(text.size(), most));
  // Without it every open reference would be searched for up to the end of the text.
  const std::size_t last_bracket = text.rfind(')');
  for (std::size_t i = 0; i < text.size() && out.size() <= most; ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
    } else if (text[i + 1] == '(' && last_bracket != text.npos && last_bracket > i) {
      const std::size_t end = text.find(')', i);
      const std::string_view value =
          lookup(text.substr(i + 2, end - i - 2), text.substr(i, end - i + 1));
      if (value.size() > most - out.size()) return std::nullopt;
      out += value;
      i = end;
    } else {  // two characters at once: the second one opens nothing
      if (text[i + 1] != '$') out += '$';
      out += text[++i];
    }
  }
  if (out.size() > most) return std::nullopt;
  return out;
}

}  // namespace

std::optional<std::string> expand(std::string_view text, const Variables& variables,
                                  std::size_t most) {
  return replace_references(text, most, [&](std::string_view name, std::string_view written) {
    const auto at = variables.find(name);
    return at == variables.end() ? written : std::string_view(at->second);
  });
}

Result<std::string> expand_all(std::string_view text, const Variables& variables) {
  std::set<std::string_view> missing;
  auto out = replace_references(text, kMostPath, [&](std::string_view name, auto written) {
    const auto at = variables.find(name);
    if (at != variables.end() && !at->second.empty()) return std::string_view(at->second);
    missing.insert(name);
    return written;
  });
  if (!out)
    return fail(
        Code::kInvalid,
        fmt::format("with its variables filled in a path has more than {} bytes", kMostPath));
  if (missing.empty()) return *std::move(out);
  return fail(Code::kInvalid, fmt::format("missing value for {}", fmt::join(missing, ", ")));
}

}  // namespace muster::agent
