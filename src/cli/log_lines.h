// Log output of many processes on one screen: whole lines, each behind its process' name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::cli {

// "trainer-0-3" of pod "train-trainer-0-3-x7k2p" of JobSet "train", and "/container" if one is
// named.
std::string log_prefix(std::string_view job_set, std::string_view pod, std::string_view container);

// One of six colours, the same for a name on every run.
int colour_of(std::string_view name);

class LogLines {
 public:
  explicit LogLines(std::string prefix);
  void take(std::string_view data);  // prints every line that is complete
  void finish();                     // prints what is left

 private:
  // A program that never ends its line is cut into pieces of this size.
  static constexpr std::size_t kMaxLine = 64 * 1024;
  void print(std::string_view line) const;

  std::string prefix_;
  std::string rest_;
};

// Terminal control codes taken out, so that a log cannot write elsewhere on the screen (S3).
// Colours stay.
std::string without_controls(std::string_view line);

}  // namespace muster::cli
