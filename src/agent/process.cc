#include "agent/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace muster::agent {
namespace {

// Which step of the child's start failed, sent through the pipe as (step, errno).
enum Step : int { kChdir, kOpenLog, kExec };

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const auto& text : strings) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// Runs between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(const ProcessSpec& spec, char** argv, char** environment, int report) {
  const auto give_up = [report](int step) {
    const std::array<int, 2> message = {step, errno};
    [[maybe_unused]] const auto written = ::write(report, message.data(), sizeof message);
    ::_exit(127);
  };
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // until pods outlive their agent, none is left behind by it
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);  // which we ignore: programs in pipes rely on dying of it
  if (!spec.working_directory.empty() && ::chdir(spec.working_directory.c_str()) != 0)
    give_up(kChdir);
  const int log = ::open(spec.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) give_up(kOpenLog);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execvpe(argv[0], argv, environment);
  give_up(kExec);
  ::_exit(127);
}

class LocalProcess final : public Process {
 public:
  LocalProcess(Loop& loop, int pid, int pidfd, std::function<void(Exit)> ended)
      : loop_(loop), pid_(pid), pidfd_(pidfd), ended_(std::move(ended)) {
    loop_.watch_readable(pidfd_, [this] { reap(); });
  }
  ~LocalProcess() override {
    if (pidfd_ < 0) return;
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    close();
  }
  int pid() const override { return pid_; }
  void signal(int number) override {
    if (pidfd_ >= 0) ::kill(-pid_, number);
  }

 private:
  void reap() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return;
    ::kill(-pid_, SIGKILL);  // what the process left in its group ends with it
    close();
    Exit exit{.code = WEXITSTATUS(status), .signal = 0};
    if (WIFSIGNALED(status)) exit = {.code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
    auto ended = std::move(ended_);
    ended(exit);  // may destroy this
  }
  void close() {
    loop_.unwatch(pidfd_);
    ::close(pidfd_);
    pidfd_ = -1;
  }

  Loop& loop_;
  int pid_;
  int pidfd_;
  std::function<void(Exit)> ended_;
};

}  // namespace

Result<std::unique_ptr<Process>> Process::start(Loop& loop, const ProcessSpec& spec,
                                                std::function<void(Exit)> ended) {
  MUSTER_ASSERT(!spec.argv.empty(), "a process has a program");
  auto argv = pointers(spec.argv);
  auto environment = pointers(spec.environment);
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0)
    return fail(Code::kUnavailable, "no file descriptor left for a process");
  const int pid = ::fork();
  if (pid == 0) become(spec, argv.data(), environment.data(), report[1]);
  ::close(report[1]);
  if (pid < 0) {
    ::close(report[0]);
    return fail(Code::kUnavailable,
                fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  std::array<int, 2> message{};
  const auto got = ::read(report[0], message.data(),
                          sizeof message);  // ends at exec, which closes the other end
  ::close(report[0]);
  if (got == sizeof message) {
    ::waitpid(pid, nullptr, 0);
    const std::string& what = message[0] == kChdir     ? spec.working_directory
                              : message[0] == kOpenLog ? spec.log_file
                                                       : spec.argv[0];
    return fail(Code::kInvalid, fmt::format("cannot start {}: {}: {}", spec.argv[0], what,
                                            std::strerror(message[1])));
  }
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  MUSTER_ASSERT(pidfd >= 0, "a child that was not reaped has a pidfd");
  return std::make_unique<LocalProcess>(loop, pid, pidfd, std::move(ended));
}

}  // namespace muster::agent
