// A set of completion indexes, in the form in which a Job's status lists them: "1,3-5,7".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::controllers::job {

class IntervalSet {
 public:
  struct Interval {
    std::int64_t first = 0;
    std::int64_t last = 0;  // included
    bool operator==(const Interval&) const = default;
  };

  // Of text that this controller once wrote; what is broken in it is left out. The set ends below
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
  // The lowest `count` indexes below `completions` that are not in the set.
  std::vector<std::int64_t> first_absent(std::size_t count, std::int64_t completions) const;

  bool operator==(const IntervalSet&) const = default;

 private:
  void append(Interval next);  // begins after the last one begins

  std::vector<Interval> intervals_;  // ascending, apart
};

}  // namespace muster::controllers::job
