// A stream in pieces as whole lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace muster::cli {

class Lines {
 public:
  using Tell = std::function<void(std::string_view line)>;

  // A line that is longer than this is told in pieces.
  explicit Lines(std::size_t longest) : longest_(longest) {}

  void take(std::string_view data, const Tell& tell) {
    rest_ += data;
    std::size_t start = 0;
    for (std::size_t end; (end = rest_.find('\n', start)) != std::string::npos; start = end + 1)
      tell(std::string_view(rest_).substr(start, end - start));
    rest_.erase(0, start);
    if (rest_.size() >= longest_) finish(tell);
  }

  // What is left without a line break.
  void finish(const Tell& tell) {
    if (!rest_.empty()) tell(rest_);
    rest_.clear();
  }

 private:
  std::size_t longest_;
  std::string rest_;
};

inline constexpr std::size_t kLongestLogLine = 64 * 1024;
inline constexpr std::size_t kLongestWatchLine = 16u << 20;  // no object is as large

}  // namespace muster::cli
