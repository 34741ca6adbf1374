// What the kernel alone costs: the measure for bench/local.
//
//   bare spawn N PARALLEL PROGRAM...   starts PROGRAM N times, at most PARALLEL at once, each in
//   PID,
//                                      mount, UTS and IPC namespaces of its own; prints seconds
//   bare wake N PROGRAM...             N processes wait before their exec; prints the time at which
//                                      they are let go, in seconds; PROGRAM prints its own
//   bare stamp SECONDS                 prints the time, and stays for so long
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

std::int64_t now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

void print_time(std::FILE* to) {
  std::fprintf(to, "%.6f\n", static_cast<double>(now_ns(CLOCK_REALTIME)) / 1e9);
  std::fflush(to);
}

int stamp(unsigned seconds) {
  print_time(stdout);
  sleep(seconds);
  return 0;
}

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

// Namespaces need privileges; a user namespace gives them to everyone else.
unsigned long isolation() {
  const unsigned long flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC;
  return geteuid() == 0 ? flags : flags | CLONE_NEWUSER;
}

pid_t start_isolated(char** program) {
  const auto pid = static_cast<pid_t>(
      syscall(SYS_clone, isolation() | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (pid < 0) die("clone");
  if (pid > 0) return pid;
  mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  mount("proc", "/proc", "proc", 0, nullptr);
  if (sethostname("bare", 4) != 0) _exit(126);
  execvp(program[0], program);
  _exit(127);
}

void reap_one() {
  int status = 0;
  if (wait(&status) < 0) die("wait");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "a program failed: %x\n", status);
    std::exit(1);
  }
}

int spawn(int count, int parallel, char** program) {
  const std::int64_t began = now_ns(CLOCK_MONOTONIC);
  int running = 0;
  for (int i = 0; i < count; ++i) {
    if (running == parallel) {
      reap_one();
      --running;
    }
    start_isolated(program);
    ++running;
  }
  for (; running > 0; --running) reap_one();
  std::printf("%.4f\n", static_cast<double>(now_ns(CLOCK_MONOTONIC) - began) / 1e9);
  return 0;
}

int wake(int count, char** program) {
  auto* gate = static_cast<std::atomic<std::uint32_t>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < count; ++i) {
    const pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid > 0) continue;
    while (gate->load() == 0) syscall(SYS_futex, gate, FUTEX_WAIT, 0, nullptr, nullptr, 0);
    execvp(program[0], program);
    _exit(127);
  }
  sleep(1);  // until all of them wait
  print_time(stderr);
  gate->store(1);
  syscall(SYS_futex, gate, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  for (int i = 0; i < count; ++i) reap_one();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 4 && std::strcmp(argv[1], "spawn") == 0)
    return spawn(std::atoi(argv[2]), std::atoi(argv[3]), argv + 4);
  if (argc > 3 && std::strcmp(argv[1], "wake") == 0) return wake(std::atoi(argv[2]), argv + 3);
  if (argc == 3 && std::strcmp(argv[1], "stamp") == 0)
    return stamp(static_cast<unsigned>(std::atoi(argv[2])));
  std::fprintf(stderr,
               "usage: bare spawn N PARALLEL PROGRAM... | wake N PROGRAM... | stamp SECONDS\n");
  return 64;
}
