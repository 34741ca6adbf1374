#include "runtime/shim_run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace muster::runtime {
namespace {

// A pipe holds at most 1 MiB; whoever still writes more is not of this run.
constexpr int kMaxDrainReads = 64;
constexpr std::size_t kReadSize = 32 << 10;

int signal_of(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

}  // namespace

bool read_output(ShimRun& run, Stream stream) {
  const UniqueFd& pipe = stream == Stream::kOut ? run.processes.output : run.processes.errors;
  std::array<char, kReadSize> bytes;
  const ssize_t got = read(pipe.get(), bytes.data(), bytes.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got > 0) run.log->append(stream, {bytes.data(), static_cast<std::size_t>(got)});
  return got > 0;
}

void drain_output(ShimRun& run) {
  for (const Stream stream : {Stream::kOut, Stream::kError}) {
    const UniqueFd& pipe = stream == Stream::kOut ? run.processes.output : run.processes.errors;
    if (!pipe.valid()) continue;
    std::array<char, kReadSize> bytes;
    for (int i = 0; i < kMaxDrainReads; ++i) {
      const ssize_t got = read(pipe.get(), bytes.data(), bytes.size());
      if (got <= 0) break;
      run.log->append(stream, {bytes.data(), static_cast<std::size_t>(got)});
    }
  }
  run.log->finish();
}

Exit exit_of(const ShimRun& run, Time now) {
  Exit exit{.finished = now};
  if (auto error = start_error_in(run.start_text)) {
    exit.code = kStartErrorCode;
    exit.start_error = std::move(*error);
    return exit;
  }
  // Without a report the init itself was killed, and the program with it.
  int status = run.init_status.value_or(SIGKILL);
  [[maybe_unused]] const ssize_t got = read(run.processes.report.get(), &status, sizeof status);
  exit.signal = signal_of(status);
  exit.code = exit_code(status);
  exit.out_of_memory = exit.code != 0 && run.program.groups.killed_for_memory();
  return exit;
}

bool read_start(const UniqueFd& pipe, std::string& text) {
  std::array<char, 1024> bytes;
  for (;;) {
    const ssize_t got = read(pipe.get(), bytes.data(), bytes.size());
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

bool was_held(const std::string& start_text) { return start_text == std::string(1, kHeldMark); }

bool was_executed(const std::string& start_text) {
  return !start_error_in(start_text) && start_text.ends_with(kExecMark);
}

// Nothing that comes before it looks like it.
std::optional<std::string> start_error_in(const std::string& start_text) {
  const std::size_t at = start_text.find(kErrorMark);
  if (at == std::string::npos) return std::nullopt;
  return start_text.substr(at + 1);
}

int exit_code(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + signal_of(wait_status);
}

}  // namespace muster::runtime
