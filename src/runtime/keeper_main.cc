#include "runtime/keeper_main.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/stable_hash.h"
#include "runtime/file_limit.h"
#include "runtime/keeper.h"

namespace muster::runtime {
namespace {

constexpr int kFailed = 1;

[[noreturn]] void give_up(std::string_view why) {
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, why.data(), why.size());
  _exit(kFailed);
}

// Groups of different directories must not meet.
std::string group_name(std::string_view directory) {
  return fmt::format("muster-{:016x}", stable_hash(directory));
}

// For all that comes from us: nobody on the way to a program changes it again. Past the C library,
// which keeps a few signals to itself and leaves them ignored.
void reset_signals() {
  struct {
    void* handler;
    unsigned long flags;
    void* restorer;
    std::uint64_t mask;
  } const by_default{};
  for (int number = 1; number < NSIG; ++number) {
    syscall(SYS_rt_sigaction, number, &by_default, nullptr, sizeof by_default.mask);
  }
}

// Away from the terminal, the session and the descriptors of whoever started us. Waits for a keeper
// that is just ending.
UniqueFd settle(const std::string& directory) {
  setsid();
  umask(077);
  reset_signals();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  keep_only({});
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  const std::string log = directory + "/keeper.log";
  const UniqueFd errors(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  dup2(nothing.get(), STDIN_FILENO);
  dup2(errors.valid() ? errors.get() : nothing.get(), STDERR_FILENO);
  const std::string lock_file = directory + "/" + kKeeperLock;
  UniqueFd lock(open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid() || flock(lock.get(), LOCK_EX) != 0) {
    give_up(fmt::format("{}: {}", lock_file, std::strerror(errno)));
  }
  return lock;
}

void close_report() {
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  dup2(nothing.get(), STDOUT_FILENO);
}

int keep(const std::string& directory, bool namespaces) {
  UniqueFd lock = settle(directory);
  prctl(PR_SET_NAME, "muster-keeper");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  raise_file_limit();
  Isolation isolation = enter_isolation(namespaces);
  // After the user namespace, whose maps nobody could write otherwise. No pod may look into us.
  prctl(PR_SET_DUMPABLE, 0);
  const std::unique_ptr<Loop> loop = make_real_loop();
  Keeper keeper(*loop, directory, std::move(lock), std::move(isolation),
                Cgroups::find(group_name(directory)));
  const Status started = keeper.start();
  if (!started) give_up(started.error().message);
  close_report();
  loop->run();
  _exit(0);
}

}  // namespace

int keeper_main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("keeper: a directory is missing; this command is started by muster itself\n",
               stderr);
    return 2;
  }
  const pid_t child = fork();
  if (child < 0) give_up(fmt::format("fork: {}", std::strerror(errno)));
  if (child > 0) _exit(0);
  return keep(argv[1], !(argc > 2 && std::string_view(argv[2]) == "--plain"));
}

}  // namespace muster::runtime
