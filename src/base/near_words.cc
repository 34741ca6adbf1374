#include "base/near_words.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/ascii.h"

namespace muster {
namespace {

// Letters that are missing, too many, wrong, or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  const auto same = [](char x, char y) { return lower_case(x) == lower_case(y); };
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (same(a[i], b[j]) ? 0 : 1), row[j] + 1, last[j + 1] + 1});
      const bool swapped = i > 0 && j > 0 && same(a[i], b[j - 1]) && same(a[i - 1], b[j]);
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (candidate != word && distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::vector<std::string> nearest_first(std::string_view word, std::vector<std::string> candidates) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    ranked.emplace_back(distance, std::move(candidate));
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<std::size_t, std::string>::first);
  std::ranges::transform(ranked, candidates.begin(),
                         [](auto& each) { return std::move(each.second); });
  return candidates;
}

}  // namespace muster
