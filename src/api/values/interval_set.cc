#include "api/values/interval_set.h"

#include <algorithm>
#include <iterator>

#include "api/values/field_error.h"
#include "base/number.h"

namespace muster::api {
namespace {

std::optional<std::int64_t> to_index(std::string_view text) {
  const auto index = parse_number<std::int64_t>(text);
  return index && *index >= 0 ? index : std::nullopt;
}

std::optional<IntervalSet::Interval> to_interval(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = to_index(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : to_index(text.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return IntervalSet::Interval{*first, *last};
}

using Reason = std::unexpected<std::string>;

std::string not_increasing(std::int64_t previous, std::int64_t current) {
  return fmt::format("non-increasing order, previous: {}, current: {}", previous, current);
}

std::expected<std::int64_t, std::string> parse_index(std::string_view text,
                                                     std::int64_t completions) {
  const auto index = parse_number<std::int64_t>(text);
  if (!index)
    return Reason(fmt::format("cannot convert string to integer for index: {}", quote(text)));
  if (*index >= completions) return Reason(fmt::format("too large index: {}", quote(text)));
  return *index;
}

std::expected<IntervalSet::Interval, std::string> parse_index_interval(std::string_view text,
                                                                       std::int64_t completions) {
  if (std::ranges::count(text, '-') > 1)
    return Reason(
        fmt::format("the fragment {} violates the requirement that an index interval can "
                    "have at most two parts separated by '-'",
                    quote(text)));
  const auto dash = text.find('-');
  const auto first = parse_index(text.substr(0, dash), completions);
  if (!first) return Reason(first.error());
  if (dash == std::string_view::npos) return IntervalSet::Interval{*first, *first};
  const auto last = parse_index(text.substr(dash + 1), completions);
  if (!last) return Reason(last.error());
  if (*first >= *last) return Reason(not_increasing(*first, *last));
  return IntervalSet::Interval{*first, *last};
}

}  // namespace

void IntervalSet::append(Interval next) {
  if (intervals_.empty() || intervals_.back().last + 1 < next.first) {
    intervals_.push_back(next);
  } else {
    intervals_.back().last = std::max(intervals_.back().last, next.last);
  }
}

std::expected<IntervalSet, std::string> IntervalSet::parse_strictly(std::string_view text,
                                                                    std::int64_t completions) {
  IntervalSet set;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto interval = parse_index_interval(text.substr(0, comma), completions);
    if (!interval) return Reason(interval.error());
    if (!set.empty() && set.intervals_.back().last >= interval->first)
      return Reason(not_increasing(set.intervals_.back().last, interval->first));
    set.append(*interval);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return Reason("cannot convert string to integer for index: \"\"");
  }
  return set;
}

IntervalSet IntervalSet::parse(std::string_view text, std::int64_t completions) {
  IntervalSet set;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto interval = to_interval(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (!interval) continue;
    if (interval->first >= completions) break;
    set.append({interval->first, std::min(interval->last, completions - 1)});
  }
  return set;
}

IntervalSet IntervalSet::of(std::vector<std::int64_t> indexes) {
  std::ranges::sort(indexes);
  IntervalSet set;
  for (const std::int64_t index : indexes) set.append({index, index});
  return set;
}

std::string IntervalSet::text() const {
  std::string out;
  for (const auto& [first, last] : intervals_) {
    if (!out.empty()) out += ',';
    out += std::to_string(first);
    if (last != first) out += (last == first + 1 ? ',' : '-') + std::to_string(last);
  }
  return out;
}

bool IntervalSet::contains(std::int64_t index) const {
  const auto at = std::ranges::lower_bound(intervals_, index, {}, &Interval::last);
  return at != intervals_.end() && at->first <= index;
}

std::int64_t IntervalSet::size() const {
  std::int64_t total = 0;
  for (const auto& [first, last] : intervals_) total += last - first + 1;
  return total;
}

IntervalSet IntervalSet::joined_with(const IntervalSet& other) const {
  std::vector<Interval> all;
  all.reserve(intervals_.size() + other.intervals_.size());
  std::ranges::merge(intervals_, other.intervals_, std::back_inserter(all), {}, &Interval::first,
                     &Interval::first);
  IntervalSet set;
  for (const Interval& interval : all) set.append(interval);
  return set;
}

// Calls `with` with each interval that both sets have, in ascending order, until it returns false.
template <class With>
void IntervalSet::for_each_common(const IntervalSet& other, const With& with) const {
  auto a = intervals_.begin();
  auto b = other.intervals_.begin();
  while (a != intervals_.end() && b != other.intervals_.end()) {
    const Interval both{std::max(a->first, b->first), std::min(a->last, b->last)};
    if (both.first <= both.last && !with(both)) return;
    a->last < b->last ? ++a : ++b;
  }
}

std::int64_t IntervalSet::common(const IntervalSet& other) const {
  std::int64_t count = 0;
  for_each_common(other, [&count](const Interval& both) {
    count += both.last - both.first + 1;
    return true;
  });
  return count;
}

std::optional<std::int64_t> IntervalSet::first_common(const IntervalSet& other) const {
  std::optional<std::int64_t> first;
  for_each_common(other, [&first](const Interval& both) {
    first = both.first;
    return false;
  });
  return first;
}

std::vector<std::int64_t> IntervalSet::first_absent(std::size_t count,
                                                    std::int64_t completions) const {
  std::vector<std::int64_t> absent;
  std::int64_t candidate = 0;
  const auto take_below = [&](std::int64_t end) {
    for (; candidate < end && absent.size() < count; ++candidate) absent.push_back(candidate);
  };
  for (const auto& [first, last] : intervals_) {
    take_below(std::min(first, completions));
    candidate = std::max(candidate, last + 1);
    if (absent.size() == count) return absent;
  }
  take_below(completions);
  return absent;
}

}  // namespace muster::api
