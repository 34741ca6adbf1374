#include "cli/screen.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace muster::cli {
namespace {

constexpr std::size_t kUsualWidth = 80;
constexpr std::size_t kLeastWidth = 20;

// All of it: a torn line would be worse than waiting.
void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      ::usleep(1000);
      continue;
    }
    if (written <= 0) return;  // nobody reads any more
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool is_capable(int descriptor) {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace

bool wants_colours(int descriptor) {
  const char* const no_colour = std::getenv("NO_COLOR");
  return is_capable(descriptor) && (no_colour == nullptr || *no_colour == '\0');
}

std::string Block::erase() const {
  if (lines_.empty()) return "";
  // The cursor stands at the end of the last line.
  std::string out = "\r";
  if (lines_.size() > 1) out += fmt::format("\x1b[{}A", lines_.size() - 1);
  return out + "\x1b[J";
}

std::string Block::draw() const {
  std::string out;
  for (const std::string& line : lines_) out += (out.empty() ? "" : "\r\n") + line;
  return out;
}

std::string Block::replace(std::vector<std::string> lines) {
  std::string out = erase();
  lines_ = std::move(lines);
  return out + draw();
}

std::string Block::print_above(std::string_view text) const {
  return erase() + std::string(text) + draw();
}

std::string Block::clear() { return replace({}); }

Screen::Screen(Options options)
    : has_block_(options.progress && is_capable(STDERR_FILENO)),
      one_terminal_(::isatty(STDOUT_FILENO) == 1),
      colours_(wants_colours(STDOUT_FILENO)),
      status_colours_(wants_colours(STDERR_FILENO)) {}

Screen::~Screen() { clear_block(); }

std::size_t Screen::width() const {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < kLeastWidth)
    return kUsualWidth;
  return size.ws_col;
}

void Screen::log(std::string_view line) {
  std::string text(line);
  text += '\n';
  write_all(STDOUT_FILENO, has_block_ && one_terminal_ ? block_.print_above(text) : text);
}

void Screen::note(std::string_view line) {
  std::string text(line);
  text += '\n';
  write_all(STDERR_FILENO, has_block_ ? block_.print_above(text) : text);
}

void Screen::set_block(std::vector<std::string> lines) {
  if (has_block_) write_all(STDERR_FILENO, block_.replace(std::move(lines)));
}

void Screen::clear_block() {
  if (has_block_) write_all(STDERR_FILENO, block_.clear());
}

}  // namespace muster::cli
