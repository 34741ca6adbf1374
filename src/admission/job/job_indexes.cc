#include "admission/job/job_indexes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/values/field_error.h"

namespace muster::admission {
namespace {

using Reason = std::unexpected<std::string>;

std::string not_increasing(std::int64_t previous, std::int64_t current) {
  return fmt::format("non-increasing order, previous: {}, current: {}", previous, current);
}

std::expected<std::int64_t, std::string> parse_index(std::string_view text,
                                                     std::int64_t completions) {
  std::int64_t index = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (fault != std::errc() || end != text.data() + text.size())
    return Reason(fmt::format("cannot convert string to integer for index: {}", api::quote(text)));
  if (index >= completions) return Reason(fmt::format("too large index: {}", api::quote(text)));
  return index;
}

std::expected<IndexInterval, std::string> parse_interval(std::string_view text,
                                                         std::int64_t completions) {
  if (std::ranges::count(text, '-') > 1)
    return Reason(
        fmt::format("the fragment {} violates the requirement that an index interval can "
                    "have at most two parts separated by '-'",
                    api::quote(text)));
  const auto dash = text.find('-');
  const auto first = parse_index(text.substr(0, dash), completions);
  if (!first) return Reason(first.error());
  if (dash == std::string_view::npos) return IndexInterval{*first, *first};
  const auto last = parse_index(text.substr(dash + 1), completions);
  if (!last) return Reason(last.error());
  if (*first >= *last) return Reason(not_increasing(*first, *last));
  return IndexInterval{*first, *last};
}

}  // namespace

std::expected<std::vector<IndexInterval>, std::string> parse_indexes(std::string_view text,
                                                                     std::int64_t completions) {
  std::vector<IndexInterval> intervals;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto interval = parse_interval(text.substr(0, comma), completions);
    if (!interval) return Reason(interval.error());
    if (!intervals.empty() && intervals.back().last >= interval->first)
      return Reason(not_increasing(intervals.back().last, interval->first));
    intervals.push_back(*interval);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return Reason("cannot convert string to integer for index: \"\"");
  }
  return intervals;
}

std::int64_t count_indexes(const std::vector<IndexInterval>& intervals) {
  std::int64_t count = 0;
  for (const IndexInterval& each : intervals) count += each.last - each.first + 1;
  return count;
}

std::optional<std::int64_t> first_common_index(const std::vector<IndexInterval>& a,
                                               const std::vector<IndexInterval>& b) {
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    const std::int64_t from = std::max(left->first, right->first);
    if (from <= std::min(left->last, right->last)) return from;
    if (left->last < right->last)
      ++left;
    else
      ++right;
  }
  return {};
}

}  // namespace muster::admission
