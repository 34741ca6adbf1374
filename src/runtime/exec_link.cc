#include "runtime/exec_link.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/errno_error.h"
#include "runtime/channel.h"

namespace muster::runtime {
namespace {

constexpr int kMaxDrainReads = 64;  // more than a pipe holds: somebody else writes
constexpr char kEndOfInput = 4;     // Ctrl-D, what a terminal has instead of an end

void set_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

Result<std::pair<UniqueFd, UniqueFd>> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno_error("no pipe");
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

}  // namespace

Result<std::pair<std::unique_ptr<ExecLink>, std::vector<UniqueFd>>> ExecLink::make(
    Loop& loop, const ExecSpec& spec, ExecEvents events) {
  std::unique_ptr<ExecLink> link(new ExecLink(loop, std::move(events)));
  std::vector<UniqueFd> theirs;
  if (spec.tty) {
    MUSTER_TRY(auto ends, make_channel_pair());
    link->handover_ = std::move(ends.first);
    theirs.push_back(std::move(ends.second));
    loop.watch_readable(link->handover_.get(), [at = link.get()] { at->receive_terminal(); });
    return std::pair(std::move(link), std::move(theirs));
  }
  MUSTER_TRY(auto input, make_pipe());
  MUSTER_TRY(auto output, make_pipe());
  MUSTER_TRY(auto errors, make_pipe());
  if (spec.with_input) {
    link->input_ = std::move(input.second);
    set_nonblocking(link->input_.get());
  }
  link->output_ = std::move(output.first);
  link->errors_ = std::move(errors.first);
  theirs.push_back(std::move(input.first));  // without input: at its end from the beginning
  theirs.push_back(std::move(output.second));
  theirs.push_back(std::move(errors.second));
  link->watch(link->output_, false);
  link->watch(link->errors_, true);
  return std::pair(std::move(link), std::move(theirs));
}

ExecLink::~ExecLink() {
  close_input();
  for (UniqueFd* fd : {&handover_, &terminal_, &output_, &errors_}) stop(*fd);
}

// The command waits until our end of the socket is closed.
void ExecLink::receive_terminal() {
  auto message = receive_message(handover_.get());
  if (message && !*message) return;  // it has not come yet
  if (message && (*message)->fds.size() == 1) terminal_ = std::move((*message)->fds.front());
  ioctl(terminal_.get(), TIOCSWINSZ, &size_);
  stop(handover_);
  if (!terminal_.valid()) return close_input();  // how it ended is told by the shim
  set_nonblocking(terminal_.get());
  if (!paused_) watch(terminal_, false);
  flush_input();
}

void ExecLink::watch(UniqueFd& fd, bool is_error) {
  if (!fd.valid()) return;
  set_nonblocking(fd.get());
  loop_.watch_readable(fd.get(), [this, &fd, is_error] {
    const Lifetime::Watch self = lifetime_.watch();
    const bool more = read_some(fd, is_error);
    if (!self.ended() && !more) stop(fd);
  });
}

void ExecLink::stop(UniqueFd& fd) {
  if (!fd.valid()) return;
  loop_.unwatch(fd.get());
  fd = {};
}

// False at the end. A terminal without a user fails with EIO, which is its end.
bool ExecLink::read_some(const UniqueFd& fd, bool is_error) {
  std::array<char, 32 << 10> bytes;
  const ssize_t got = read(fd.get(), bytes.data(), bytes.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  const auto output = events_.output;
  if (got > 0 && output) output(is_error, {bytes.data(), static_cast<std::size_t>(got)});
  return got > 0;
}

void ExecLink::pause_output(bool paused) {
  if (paused == paused_) return;
  paused_ = paused;
  if (paused) {
    for (const UniqueFd* fd : {&terminal_, &output_, &errors_}) loop_.unwatch(fd->get());
    return;
  }
  watch(terminal_, false);
  watch(output_, false);
  watch(errors_, true);
  if (!end_) return;
  loop_.post(lifetime_.guard([this] { finish(); }));
}

void ExecLink::ended(Result<int> exit_code) {
  if (end_) return;
  end_ = std::move(exit_code);
  finish();
}

void ExecLink::finish() {
  const Lifetime::Watch self = lifetime_.watch();
  if (handover_.valid()) receive_terminal();
  for (UniqueFd* fd : {&terminal_, &output_, &errors_}) {
    for (int i = 0; fd->valid() && i < kMaxDrainReads; ++i) {
      if (paused_) return;
      const bool is_error = fd == &errors_;
      std::array<char, 32 << 10> bytes;
      const ssize_t got = read(fd->get(), bytes.data(), bytes.size());
      if (got <= 0) break;
      const auto output = events_.output;
      if (output) output(is_error, {bytes.data(), static_cast<std::size_t>(got)});
      if (self.ended()) return;
    }
    stop(*fd);
  }
  close_input();
  const auto end = std::exchange(events_, {}).end;
  if (end) end(*end_);
}

void ExecLink::input(std::string_view bytes) {
  if (input_ends_) return;
  if (!has_terminal() && !input_.valid()) return took(bytes.size());
  if (waiting_.size() - written_ + bytes.size() > kMaxExecInput) {
    loop_.post(lifetime_.guard(
        [this] { ended(fail(Code::kTooLarge, "the command does not read its input")); }));
    return;
  }
  waiting_ += bytes;
  flush_input();
}

void ExecLink::end_input() {
  if (input_ends_) return;
  if (has_terminal()) waiting_ += kEndOfInput;
  input_ends_ = true;
  flush_input();
}

void ExecLink::flush_input() {
  if (handover_.valid()) return;
  const int fd = terminal_.valid() ? terminal_.get() : input_.get();
  while (written_ < waiting_.size()) {
    const ssize_t put = write(fd, waiting_.data() + written_, waiting_.size() - written_);
    if (put < 0 && errno == EAGAIN) break;
    if (put < 0) return close_input();  // it does not want any
    written_ += static_cast<std::size_t>(put);
    took(static_cast<std::size_t>(put));
  }
  if (written_ < waiting_.size()) {
    if (writable_.valid()) return;
    writable_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{.events = EPOLLOUT, .data = {}};
    epoll_ctl(writable_.get(), EPOLL_CTL_ADD, fd, &event);
    loop_.watch_readable(writable_.get(), [this] { flush_input(); });
    return;
  }
  waiting_.clear();
  written_ = 0;
  stop(writable_);
  if (input_ends_) input_ = {};
}

// Told later: whoever writes input must not be called back meanwhile.
void ExecLink::took(std::size_t bytes) {
  if (bytes == 0 || !events_.input_taken) return;
  loop_.post(lifetime_.guard([this, bytes] {
    if (events_.input_taken) events_.input_taken(bytes);
  }));
}

void ExecLink::close_input() {
  took(waiting_.size() - written_);
  stop(writable_);
  input_ = {};
  waiting_.clear();
  written_ = 0;
}

void ExecLink::resize(int columns, int rows) {
  size_.ws_col = static_cast<unsigned short>(std::clamp(columns, 0, 0xFFFF));
  size_.ws_row = static_cast<unsigned short>(std::clamp(rows, 0, 0xFFFF));
  if (terminal_.valid()) ioctl(terminal_.get(), TIOCSWINSZ, &size_);
}

}  // namespace muster::runtime
