#include "runtime/launch.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "base/errno_error.h"
#include "runtime/borrowed_memory.h"
#include "runtime/borrowed_rights.h"
#include "runtime/covers.h"
#include "runtime/gate.h"
#include "runtime/oci_container.h"
#include "runtime/oom_score.h"
#include "runtime/terminals.h"
#include "runtime/view.h"

namespace muster::runtime {
namespace {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> make_pipe(int flags) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return errno_error("no pipe");
  }
  Pipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  fcntl(ends[0], F_SETFL, flags);  // only our end
  return pipe;
}

struct Pipes {
  Pipe output;
  Pipe errors;
  Pipe start;
  Pipe report;
};

Result<Pipes> make_pipes() {
  Pipes pipes;
  for (Pipe* each : {&pipes.output, &pipes.errors, &pipes.start, &pipes.report}) {
    MUSTER_TRY(*each, make_pipe(O_NONBLOCK));
  }
  return pipes;
}

Result<View::Source> take(const Mount& mount, const std::optional<User>& user) {
  if (!mount.as_user || !user) return View::take(mount);
  const BorrowedRights rights(*user);
  MUSTER_CHECK(rights.status());
  return View::take(mount);
}

// What names mean is the machine's business, whatever root a container has.
void add_network_files(std::vector<Mount>& mounts) {
  for (const char* name : {"/etc/hosts", "/etc/resolv.conf"}) {
    std::error_code absent;
    const auto file = std::filesystem::canonical(name, absent);  // it may be a link
    if (!absent) mounts.push_back({file.string(), name, true});
  }
}

std::vector<Mount> mounts_of(const PodSpec& pod, const RunSpec& run) {
  std::vector<Mount> ours;
  if (!pod.hosts_file.empty()) ours.push_back({pod.hosts_file, "/etc/hosts", true});
  if (!run.termination_log.empty()) {
    ours.push_back({run.termination_log, run.termination_log_path, false});
  }
  if (!run.rootfs.empty()) add_network_files(ours);
  std::vector<Mount> mounts = run.mounts;
  for (Mount& each : ours) {
    const bool taken = std::ranges::any_of(
        mounts, [&](const Mount& other) { return other.target == each.target; });
    if (!taken) mounts.push_back(std::move(each));
  }
  // What lies inside of another mount comes after it.
  std::ranges::sort(mounts, {},
                    [](const Mount& m) { return std::pair(m.target.size(), m.target); });
  return mounts;
}

Status take_those(bool as_user, const std::vector<Mount>& mounts, const std::optional<User>& user,
                  std::vector<View::Source>& sources) {
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    if (mounts[i].as_user != as_user) continue;
    MUSTER_TRY(sources[i], take(mounts[i], user));
  }
  return {};
}

// What the agent prepared may lie in hidden folders and is taken before they are covered. What the
// pod itself names is taken afterwards, so that it shows the covers, too. Sources have the order of
// the mounts.
Result<std::vector<View::Source>> take_all(const PodSpec& pod, const RunSpec& run) {
  const std::vector<Mount> mounts = mounts_of(pod, run);
  std::vector<View::Source> sources(mounts.size());
  MUSTER_CHECK(take_those(false, mounts, run.user, sources));
  MUSTER_CHECK(mount_own_terminals());
  MUSTER_TRY(const std::vector<std::string> covered, cover_folders(pod.hidden));
  MUSTER_CHECK(take_those(true, mounts, run.user, sources));
  // The container gets a root of its own; only its bundle lies in a hidden folder.
  if (!run.rootfs.empty()) lift_covers(covered);
  return sources;
}

Status set_up_view(const std::vector<View::Source>& sources, const RunSpec& run) {
  View view(run.user.value_or(User{}));
  if (run.read_only_root) MUSTER_CHECK(view.make_read_only());
  for (const View::Source& source : sources) MUSTER_CHECK(view.mount(source));
  MUSTER_CHECK(view.seal());
  return view.mount_proc();
}

Status check_mounts(const RunSpec& run, const Namespaces& namespaces) {
  const bool needed = !run.mounts.empty() || run.read_only_root || !run.rootfs.empty();
  if (namespaces.runs || !needed) return {};
  return fail(Code::kInternal,
              "this machine gives us no mount namespaces, which volume mounts and a read-only or "
              "own root need (muster doctor says more)");
}

[[noreturn]] void stay_as_init(pid_t program, int report) {
  sigset_t all;
  sigfillset(&all);
  for (;;) {
    const int number = sigwaitinfo(&all, nullptr);
    if (number != SIGCHLD) {
      if (number > 0) kill(program, number);
      continue;
    }
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != program) continue;
      [[maybe_unused]] const ssize_t written = write(report, &status, sizeof status);
      _exit(0);
    }
  }
}

// Whether the shim has died before we asked to be killed with it.
bool is_orphan(int report) {
  pollfd peer{.fd = report, .events = 0, .revents = 0};
  return poll(&peer, 1, 0) == 1 && (peer.revents & POLLERR) != 0;
}

struct ProgramStart {
  const Program& program;
  const Stdio& stdio;
  int start;
  Hold hold;
};

int start_program(void* argument) {
  const auto& it = *static_cast<const ProgramStart*>(argument);
  run_program(it.program, it.stdio, it.start, it.hold);
}

// Whether we may enter the namespaces of processes that cannot be looked into.
bool may_enter_all() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[2] = {};
  return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> CAP_SYS_PTRACE & 1) != 0;
}

// A change of the user makes shared memory closed to others, and with it the init, for as long as
// the program is held: a shim without that right could not enter the init's namespaces.
bool may_share_memory(const Program& program) {
  if (program.gate.empty()) return true;
  return kCanGiveBack && (!program.user || geteuid() != 0 || may_enter_all());
}

// The process that is, or becomes when its gate is open, the container's program.
Result<pid_t> make_program(const RunSpec& run, const Program& program,
                           std::vector<View::Source> sources, const Stdio& stdio, int start,
                           Hold hold) {
  if (!run.rootfs.empty()) {
    return make_container(run, program, std::move(sources), stdio, start);
  }
  const bool shared = may_share_memory(program);
  BorrowedMemory& memory = *hold.memory;
  if (!shared) hold.memory = nullptr;
  ProgramStart begin{program, stdio, start, hold};
  const pid_t child = shared ? memory.lend(start_program, &begin) : fork();
  if (child == 0) start_program(&begin);
  if (child < 0) return errno_error("fork");
  return child;
}

// Open to debuggers, which is what entering its namespaces needs; the container's programs have too
// few rights for either.
void let_shim_in() { prctl(PR_SET_DUMPABLE, 1); }

// While its file is in sight; that of a container is mapped by who starts it (oci_container.h).
const std::atomic<std::uint32_t>* map_own_gate(const RunSpec& run, int start) {
  if (run.gate.empty() || !run.rootfs.empty()) return nullptr;
  const auto* gate = map_gate(run.gate.c_str());
  if (gate == nullptr) fail_start(start, run.gate + " is no gate");
  return gate;
}

// A function of its own: the memory that it lends is no burden for the shim's stack.
[[noreturn, gnu::noinline]] void run_init(const PodSpec& pod, const RunSpec& run,
                                          const Program& program, const Namespaces& namespaces,
                                          const Pipes& pipes) {
  const int start = pipes.start.write.get();
  const int report = pipes.report.write.get();
  keep_only({pipes.output.write.get(), pipes.errors.write.get(), start, report});
  prctl(PR_SET_NAME, "muster-init");
  be_ended_before_the_server();
  umask(022);  // folders on the way to a mount are for whoever the program is
  if (!namespaces.runs) prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto* gate = map_own_gate(run, start);
  auto sources = namespaces.runs ? take_all(pod, run) : std::vector<View::Source>();
  if (!sources) fail_start(start, sources.error().message);
  const bool has_view = namespaces.runs && run.rootfs.empty();
  const Status seen = has_view ? set_up_view(*sources, run) : Status();
  if (!seen) fail_start(start, seen.error().message);
  // After those, which borrow rights.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (is_orphan(report)) _exit(1);
  let_shim_in();
  const Stdio stdio{.output = pipes.output.write.get(), .errors = pipes.errors.write.get()};
  BorrowedMemory memory;
  const Result<pid_t> child =
      make_program(run, program, std::move(*sources), stdio, start, {gate, &memory});
  if (!child) fail_start(start, child.error().message);
  // Again: the kernel has undone it if the user has changed. A held one still shares our memory.
  if (program.gate.empty()) let_shim_in();
  keep_only({report});
  stay_as_init(*child, report);
}

[[noreturn]] void run_beside(int init, const Program& program, const Stdio& stdio, int start) {
  be_ended_before_the_server();
  const Status joined = program.groups.join();  // their files are not to be had in a container
  if (!joined) fail_start(start, joined.error().message);
  if (setns(init, CLONE_NEWNS) != 0) fail_start(start, "cannot join the container's mounts");
  Program inside = program;
  inside.groups = {};
  const Status entered = program.bundle.empty() ? Status() : join_container(inside);
  if (!entered) fail_start(start, entered.error().message);
  run_program(inside, stdio, start);
}

struct Joining {
  int init;
  const Program& program;
  const Stdio& stdio;
  int start;
  pid_t child = -1;
};

int join_and_clone(void* argument) {
  auto& it = *static_cast<Joining*>(argument);
  if (setns(it.init, CLONE_NEWPID) != 0) return 1;
  clone_args arguments{};
  arguments.flags = CLONE_PARENT;
  it.child = static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
  if (it.child == 0) run_beside(it.init, it.program, it.stdio, it.start);
  return 0;
}

// Only children of a process that has joined a PID namespace are in it, and who has joined one may
// not be allowed to come back. So a helper joins, and makes a child for us.
Result<pid_t> clone_in_run(int init, const Program& program, const Stdio& stdio, int start) {
  Joining joining{init, program, stdio, start};
  BorrowedMemory memory;
  const pid_t helper = memory.lend(join_and_clone, &joining);
  if (helper > 0) waitpid(helper, nullptr, 0);
  if (joining.child > 0) return joining.child;
  return fail(Code::kInternal, "the container's processes cannot be joined");
}

}  // namespace

pid_t clone_process(std::uint64_t flags, UniqueFd& handle) {
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = flags | CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  const auto pid = static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
  if (pid > 0) handle = UniqueFd(pidfd);
  return pid;
}

void keep_only(std::vector<int> fds) {
  std::ranges::sort(fds);
  unsigned from = STDERR_FILENO + 1;
  for (const int fd : fds) {
    const auto kept = static_cast<unsigned>(fd);
    if (kept > from) close_range(from, kept - 1, 0);
    from = std::max(from, kept + 1);
  }
  close_range(from, ~0U, 0);
}

Result<Launched> launch(const PodSpec& pod, const RunSpec& run, const Program& program,
                        const Namespaces& namespaces) {
  MUSTER_CHECK(check_mounts(run, namespaces));
  MUSTER_TRY(Pipes pipes, make_pipes());
  Launched launched;
  const std::uint64_t flags = namespaces.runs ? CLONE_NEWPID | CLONE_NEWNS : 0;
  launched.init = clone_process(flags, launched.handle);
  if (launched.init == 0) run_init(pod, run, program, namespaces, pipes);
  if (launched.init < 0) {
    return errno_error("cannot make a process");
  }
  launched.output = std::move(pipes.output.read);
  launched.errors = std::move(pipes.errors.read);
  launched.start = std::move(pipes.start.read);
  launched.report = std::move(pipes.report.read);
  return launched;
}

Result<Command> launch_beside(const UniqueFd& init, const Program& program, const Stdio& stdio,
                              const Namespaces& namespaces) {
  MUSTER_TRY(Pipe start, make_pipe(O_NONBLOCK));
  Command command;
  if (namespaces.runs) {
    MUSTER_TRY(command.pid, clone_in_run(init.get(), program, stdio, start.write.get()));
    // It is our child: its number cannot be another one's before we collect it.
    command.handle = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, command.pid, 0)));
  } else {
    command.pid = clone_process(0, command.handle);
    if (command.pid == 0) {
      be_ended_before_the_server();
      run_program(program, stdio, start.write.get());
    }
    if (command.pid < 0) {
      return errno_error("cannot make a process");
    }
  }
  command.start = std::move(start.read);
  return command;
}

}  // namespace muster::runtime
