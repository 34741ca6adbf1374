// A set of completion indexes, in the form in which a Job lists them: "1,3-5,7" (spec: job 1.5).
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

class IntervalSet {
 public:
  struct Interval {
    std::int64_t first = 0;
    std::int64_t last = 0;  // included
    bool operator==(const Interval&) const = default;
  };

  // Of text from a client: strictly increasing, each index below `completions`. On failure the
  // reason in upstream's words.
  static std::expected<IntervalSet, std::string> parse_strictly(std::string_view text,
                                                                std::int64_t completions);
  // Of text that a controller once wrote; what is broken in it is left out. The set ends below
  // `completions`, which may have shrunk since.
  static IntervalSet parse(std::string_view text, std::int64_t completions);
  static IntervalSet of(std::vector<std::int64_t> indexes);  // in any order, repeated or not

  // One index `3`, two adjacent ones `3,4`, three or more `3-5`.
  std::string text() const;
  bool contains(std::int64_t index) const;
  std::int64_t size() const;
  bool empty() const { return intervals_.empty(); }

  IntervalSet joined_with(const IntervalSet& other) const;
  std::int64_t common(const IntervalSet& other) const;  // how many indexes both have
  std::optional<std::int64_t> first_common(const IntervalSet& other) const;
  // The lowest `count` indexes below `completions` that are not in the set.
  std::vector<std::int64_t> first_absent(std::size_t count, std::int64_t completions) const;

  bool operator==(const IntervalSet&) const = default;

 private:
  void append(Interval next);  // begins after the last one begins
  template <class With>
  void for_each_common(const IntervalSet& other, const With& with) const;

  std::vector<Interval> intervals_;  // ascending, apart
};

}  // namespace muster::api
