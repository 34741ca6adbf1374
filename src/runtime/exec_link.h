// The agent's end of a command that runs beside a container's processes: its pipes or terminal.
// The shim only starts it and tells how it ended; what goes in and out does not pass through it.
#pragma once

#include <sys/ioctl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/loop.h"
#include "base/unique_fd.h"
#include "runtime/runtime.h"

namespace muster::runtime {

// More input than this that the command does not read ends the exec.
inline constexpr std::size_t kMaxExecInput = 64 << 20;

class ExecLink {
 public:
  // The descriptors for the command: three pipes, or a socket by which it gives us the terminal
  // that it makes (terminals.h).
  static Result<std::pair<std::unique_ptr<ExecLink>, std::vector<UniqueFd>>> make(
      Loop& loop, const ExecSpec& spec, ExecEvents events);
  ~ExecLink();
  ExecLink(const ExecLink&) = delete;
  ExecLink& operator=(const ExecLink&) = delete;

  void input(std::string_view bytes);
  void end_input();
  void resize(int columns, int rows);
  void pause_output(bool paused);
  // The command is gone: reads what it wrote, then calls `end` (and may be destroyed by it). Waits
  // while output is paused.
  void ended(Result<int> exit_code);

 private:
  ExecLink(Loop& loop, ExecEvents events) : loop_(loop), events_(std::move(events)) {}
  bool has_terminal() const { return terminal_.valid() || handover_.valid(); }
  void receive_terminal();
  void watch(UniqueFd& fd, bool is_error);
  bool read_some(const UniqueFd& fd, bool is_error);
  void finish();
  void took(std::size_t bytes);
  void flush_input();
  void close_input();
  void stop(UniqueFd& fd);

  Loop& loop_;
  ExecEvents events_;
  UniqueFd handover_;  // until the terminal has come
  winsize size_{};     // of the terminal
  UniqueFd terminal_;  // or:
  UniqueFd input_;
  UniqueFd output_;
  UniqueFd errors_;
  UniqueFd writable_;  // an epoll that is readable when input can be written, while needed
  std::string waiting_;
  std::size_t written_ = 0;  // of waiting_
  bool input_ends_ = false;
  bool paused_ = false;
  std::optional<Result<int>> end_;  // the command is gone
  Lifetime lifetime_;
};

}  // namespace muster::runtime
