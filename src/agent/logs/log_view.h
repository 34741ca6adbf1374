// The text that a reader of a log gets to see, made from the lines of its file. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace muster::agent {

class LogView {
 public:
  struct Options {
    std::optional<Time> since;  // lines before are left out
    bool timestamps = false;
    std::optional<std::int64_t> limit_bytes;  // of what is shown
  };
  explicit LogView(const Options& options) : options_(options) {}

  // What the reader sees of these whole lines.
  std::string show(std::string_view lines);
  bool is_full() const { return full_; }

 private:
  const Options options_;
  std::int64_t shown_bytes_ = 0;
  bool at_line_start_ = true;
  bool full_ = false;
};

}  // namespace muster::agent
