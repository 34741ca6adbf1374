// Words that are nearly alike: what was probably meant by one that is not known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The candidate nearest to the word, if it is near enough to be a slip.
std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates);

// All of them, those that are like the word before the others.
std::vector<std::string> nearest_first(std::string_view word, std::vector<std::string> candidates);

}  // namespace muster
