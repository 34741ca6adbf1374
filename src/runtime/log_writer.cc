#include "runtime/log_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "runtime/make_file.h"

namespace muster::runtime {
namespace {

// Nine digits, as readers expect; the clock has six.
std::string line_time(Time now) {
  std::string text = format_micro_time(now);
  text.replace(text.size() - 1, 1, "000Z");
  return text;
}

// 20261115-164416
std::string rotation_suffix(Time now) {
  std::string text = format_time(now);
  std::erase_if(text, [](char c) { return c == '-' || c == ':' || c == 'Z'; });
  std::replace(text.begin(), text.end(), 'T', '-');
  return text;
}

// Oldest first: their names are times.
std::vector<std::string> rotated_files(const std::string& file) {
  const std::filesystem::path path(file);
  const std::string prefix = path.filename().string() + ".";
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path.parent_path(), error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with(prefix)) {
      found.push_back(entry->path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

LogWriter::LogWriter(const Clock& clock, std::string file)
    : clock_(clock), file_name_(std::move(file)) {}

void LogWriter::open_file() {
  file_ = make_file(file_name_, O_APPEND, 0640);
  struct stat info{};
  size_ = file_.valid() && fstat(file_.get(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size)
                                                          : 0;
}

void LogWriter::append(Stream stream, std::string_view bytes) {
  time_ = line_time(clock_.now());
  std::string& unfinished = unfinished_[static_cast<std::size_t>(stream)];
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8 + 128);
  while (!bytes.empty()) {
    const std::size_t room = kMaxLogLine - unfinished.size();
    const std::size_t end = bytes.substr(0, room + 1).find('\n');
    if (end != std::string_view::npos) {
      unfinished.append(bytes.substr(0, end));
      add_line(out, stream, true, unfinished);
      bytes.remove_prefix(end + 1);
      unfinished.clear();
    } else if (bytes.size() > room) {
      unfinished.append(bytes.substr(0, room));
      add_line(out, stream, false, unfinished);
      bytes.remove_prefix(room);
      unfinished.clear();
    } else {
      unfinished.append(bytes);
      bytes = {};
    }
  }
  if (!out.empty()) write(out);
}

void LogWriter::finish() {
  time_ = line_time(clock_.now());
  std::string out;
  for (const Stream stream : {Stream::kOut, Stream::kError}) {
    std::string& unfinished = unfinished_[static_cast<std::size_t>(stream)];
    if (!unfinished.empty()) add_line(out, stream, true, unfinished);
    unfinished.clear();
  }
  if (!out.empty()) write(out);
}

void LogWriter::add_line(std::string& out, Stream stream, bool whole, std::string_view content) {
  out += time_;
  out += stream == Stream::kOut ? " stdout " : " stderr ";
  out += whole ? "F " : "P ";
  out += content;
  out += '\n';
}

void LogWriter::write(const std::string& lines) {
  if (size_ >= kMaxLogFile) rotate();
  if (lost_bytes_ > 0) {
    std::string notice;
    add_line(notice, Stream::kError, true,
             fmt::format("muster: {} bytes of output were lost: {}", lost_bytes_, lost_why_));
    if (write_whole(notice)) lost_bytes_ = 0;
  }
  if (lost_bytes_ > 0 || !write_whole(lines)) lost_bytes_ += lines.size();
}

// All or nothing: half a line would spoil the next one.
bool LogWriter::write_whole(const std::string& lines) {
  if (!file_.valid()) open_file();
  const ssize_t written = file_.valid() ? ::write(file_.get(), lines.data(), lines.size()) : -1;
  if (written == static_cast<ssize_t>(lines.size())) {
    size_ += lines.size();
    return true;
  }
  lost_why_ = std::strerror(written > 0 ? ENOSPC : errno);
  if (written > 0 && ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) file_ = {};
  return false;
}

// Two rotations within a second are told apart by a count, so that names stay in order.
void LogWriter::rotate() {
  std::string name = file_name_ + "." + rotation_suffix(clock_.now());
  std::vector<std::string> rotated = rotated_files(file_name_);
  if (!rotated.empty() && rotated.back() >= name) name += fmt::format("-{:06}", ++rotations_);
  if (rename(file_name_.c_str(), name.c_str()) != 0) return;
  open_file();
  rotated.push_back(name);
  for (std::size_t i = 0; i + kMaxLogFiles <= rotated.size(); ++i) unlink(rotated[i].c_str());
}

}  // namespace muster::runtime
