#include "agent/inputs/expand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace muster::agent {
namespace {

// `lookup` gets the name and the reference as it is written.
template <class Lookup>
std::string replace_references(std::string_view text, const Lookup& lookup) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const std::size_t end = text[i + 1] == '(' ? text.find(')', i) : std::string_view::npos;
    if (end != std::string_view::npos) {
      out += lookup(text.substr(i + 2, end - i - 2), text.substr(i, end - i + 1));
      i = end;
    } else {  // two characters at once: the second one opens nothing
      if (text[i + 1] != '$') out += '$';
      out += text[++i];
    }
  }
  return out;
}

}  // namespace

std::string expand(std::string_view text, const Variables& variables) {
  return replace_references(text, [&](std::string_view name, std::string_view written) {
    const auto at = variables.find(name);
    return at == variables.end() ? written : std::string_view(at->second);
  });
}

Result<std::string> expand_all(std::string_view text, const Variables& variables) {
  std::set<std::string_view> missing;
  std::string out = replace_references(text, [&](std::string_view name, std::string_view written) {
    const auto at = variables.find(name);
    if (at != variables.end() && !at->second.empty()) return std::string_view(at->second);
    missing.insert(name);
    return written;
  });
  if (missing.empty()) return out;
  return fail(Code::kInvalid, fmt::format("missing value for {}", fmt::join(missing, ", ")));
}

}  // namespace muster::agent
