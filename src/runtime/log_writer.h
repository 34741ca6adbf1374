// One run's output as lines of a file, in the format of docs/runtime.md, rotated.
//
//   2026-11-15T16:44:16.123456000Z stdout F content
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace muster::runtime {

enum class Stream : std::uint8_t { kOut, kError };

inline constexpr std::size_t kMaxLogLine = 16 << 10;  // longer ones are written in pieces
inline constexpr std::uint64_t kMaxLogFile = 10 << 20;
inline constexpr std::size_t kMaxLogFiles = 5;  // with the current one

// The file is made with its first line, if nobody opens it before: a program that says nothing
// leaves none.
class LogWriter {
 public:
  LogWriter(const Clock& clock, std::string file);
  void open_file();  // now, instead of with the first line

  // What cannot be written (a full disk) is dropped and counted: the container must not wait for
  // it. The next line that can be written is preceded by one that says so.
  void append(Stream stream, std::string_view bytes);
  void finish();  // writes lines that have no end

 private:
  void add_line(std::string& out, Stream stream, bool whole, std::string_view content);
  void write(const std::string& lines);
  bool write_whole(const std::string& lines);
  void rotate();

  const Clock& clock_;
  const std::string file_name_;
  UniqueFd file_;
  std::uint64_t size_ = 0;
  int rotations_ = 0;
  std::uint64_t lost_bytes_ = 0;
  std::string lost_why_;
  std::array<std::string, 2> unfinished_;  // per stream, shorter than kMaxLogLine
  std::string time_;                       // of the output that is being written
};

}  // namespace muster::runtime
