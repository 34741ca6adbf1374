#include "cli/follow/screen.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace muster::cli {
namespace {

constexpr std::size_t kUsualWidth = 80;
constexpr std::size_t kLeastWidth = 20;

bool is_one_place(int a, int b) {
  struct stat first{}, second{};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_ino == second.st_ino &&
         first.st_dev == second.st_dev;
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

Screen::Screen(Loop& loop, Options options)
    : one_place_(is_one_place(STDOUT_FILENO, STDERR_FILENO)),
      has_block_(options.progress && is_capable(STDERR_FILENO)),
      one_terminal_(one_place_ && ::isatty(STDOUT_FILENO) == 1),
      colours_(wants_colours(STDOUT_FILENO)),
      status_colours_(wants_colours(STDERR_FILENO)),
      out_(loop, STDOUT_FILENO,
           {.room =
                [this] {
                  if (room_) room_();
                },
            .failed =
                [this](int error_number) {
                  if (failed_) failed_(error_number);
                }}),
      errors_(one_place_ ? nullptr
                         : std::make_unique<Writer>(loop, STDERR_FILENO, Writer::Events{})) {}

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < kLeastWidth)
    return kUsualWidth;
  return size.ws_col;
}

void Screen::log(std::string_view line) {
  if (is_finished_) return;
  std::string text(line);
  text += '\n';
  out_.write(has_block_ && one_terminal_ ? block_.print_above(text) : std::move(text));
}

void Screen::note(std::string_view line) {
  std::string text(line);
  text += '\n';
  notes().write(has_block_ ? block_.print_above(text) : std::move(text));
}

void Screen::set_block(std::vector<std::string> lines) {
  // A picture that nobody has looked at is not followed by another.
  if (has_block_ && !is_finished_ && !notes().is_full())
    notes().write(block_.replace(std::move(lines)));
}

void Screen::clear_block() {
  if (has_block_ && !is_finished_) notes().write(block_.clear());
}

void Screen::finish(std::function<void()> done) {
  clear_block();
  is_finished_ = true;
  out_.when_written([this, done = std::move(done)] {
    if (!errors_) return done();
    errors_->when_written(done);
  });
}

std::size_t Screen::unwritten() const {
  return out_.unwritten() + (errors_ ? errors_->unwritten() : 0);
}

}  // namespace muster::cli
