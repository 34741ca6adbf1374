#include "cli/follow/signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/result.h"

namespace muster::cli {

namespace {

// What the parent has made us ignore (nohup, a shell's background job) stays ignored. Blocked, it
// would be delivered.
void add_unless_ignored(sigset_t& set, int number) {
  struct sigaction present{};
  ::sigaction(number, nullptr, &present);
  if (present.sa_handler != SIG_IGN) ::sigaddset(&set, number);
}

}  // namespace

Signals::Signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  for (const int number : {SIGINT, SIGHUP}) add_unless_ignored(set, number);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  fd_ = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  MUSTER_ASSERT(fd_ >= 0, "the kernel has signalfd");
}

Signals::~Signals() { ::close(fd_); }

void Signals::on_signal(Loop& loop, std::function<void(int)> handler) {
  loop.watch_readable(fd_, [this, handler = std::move(handler)] {
    signalfd_siginfo info{};
    while (::read(fd_, &info, sizeof info) == sizeof info)
      handler(static_cast<int>(info.ssi_signo));
  });
}

}  // namespace muster::cli
