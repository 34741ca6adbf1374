// A word as it is typed into a shell. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/terminal_text.h"

namespace muster::cli {

// In quotes where a shell would take it apart.
inline std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=@,:%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return std::string(word);
  std::string out = "'";
  for (const char c : plain_text(word)) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace muster::cli
