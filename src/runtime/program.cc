#include "runtime/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "runtime/file_limit.h"
#include "runtime/gate.h"

namespace muster::runtime {
namespace {

// "no such file or directory", as container runtimes write it.
std::string reason(int number) {
  std::string text = std::strerror(number);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] += 'a' - 'A';
  return text;
}

std::unexpected<Error> refuse(std::string message) {
  return fail(Code::kInternal, std::move(message));
}

// 0 if it is a file that this process may execute, else why not.
int check_executable(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EISDIR;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

Status become(const User& user) {
  if (geteuid() != 0) {
    if (user.uid == getuid() && user.gid == getgid()) return {};
    return refuse(fmt::format("cannot run as user {}: only root can", user.uid));
  }
  const std::vector<gid_t> groups(user.groups.begin(), user.groups.end());
  if (setgroups(groups.size(), groups.data()) == 0 &&
      setresgid(user.gid, user.gid, user.gid) == 0 &&
      setresuid(user.uid, user.uid, user.uid) == 0) {
    return {};
  }
  return refuse(fmt::format("cannot run as user {}: {}", user.uid, reason(errno)));
}

// Of the last one of that name; empty if there is none.
std::string_view variable(const std::vector<std::string>& environment, std::string_view name) {
  std::string_view value;
  for (const std::string_view entry : environment) {
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
      value = entry.substr(name.size() + 1);
  }
  return value;
}

Status enter(const Program& program) {
  const std::string& wanted = program.working_directory;
  if (!wanted.empty()) {
    if (chdir(wanted.c_str()) == 0) return {};
    return refuse(fmt::format("chdir to \"{}\": {}", wanted, reason(errno)));
  }
  const std::string home(variable(program.environment, "HOME"));
  for (const std::string& place : {program.server_directory, home, std::string("/")}) {
    if (place.starts_with('/') && chdir(place.c_str()) == 0) return {};
  }
  return refuse("no root folder");
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (const std::string& string : strings) list.push_back(const_cast<char*>(string.c_str()));
  list.push_back(nullptr);
  return list;
}

// Everything that can fail, in the order in which a container runtime does it.
Result<std::string> prepare(const Program& program, const Stdio& stdio) {
  MUSTER_CHECK(program.groups.join());
  take_stdio(stdio);
  umask(022);
  restore_file_limit();
  if (program.user) MUSTER_CHECK(become(*program.user));
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return refuse("no_new_privs is not to be had");
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // again: it is lost with a change of the user
  MUSTER_CHECK(enter(program));
  if (program.argv.empty()) return refuse("no command");
  return find_program(program.argv.front(), program.environment);
}

}  // namespace

Result<std::string> find_program(const std::string& name,
                                 const std::vector<std::string>& environment) {
  if (name.find('/') != std::string::npos) {
    const int problem = check_executable(name);
    if (problem == 0) return name;
    if (problem == ENOENT) {
      return refuse(fmt::format("exec: \"{}\": stat {}: {}", name, name, reason(problem)));
    }
    return refuse(fmt::format("exec: \"{}\": {}", name, reason(problem)));
  }
  std::string_view path = variable(environment, "PATH");
  if (path.empty()) path = kDefaultPath;
  while (!path.empty() && !name.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    const std::string file = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (check_executable(file) == 0) return file;
    path.remove_prefix(std::min(path.size(), folder.size() + 1));
  }
  return refuse(fmt::format("exec: \"{}\": executable file not found in $PATH", name));
}

void take_stdio(const Stdio& stdio) {
  dup2(stdio.input, STDIN_FILENO);
  dup2(stdio.output, STDOUT_FILENO);
  dup2(stdio.errors, STDERR_FILENO);
  if (stdio.terminal) ioctl(STDIN_FILENO, TIOCSCTTY, 0);
}

// Past the C library, which keeps a few signals to itself and leaves them ignored.
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
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void mark_start(int start_pipe, char what) {
  [[maybe_unused]] const ssize_t written = write(start_pipe, &what, 1);
}

void fail_start(int start_pipe, std::string_view why) {
  const std::string text = kErrorMark + std::string(why);
  [[maybe_unused]] const ssize_t written = write(start_pipe, text.data(), text.size());
  _exit(kStartErrorCode);
}

void run_program(const Program& program, const Stdio& stdio, int start_pipe) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The user of the pod may not be able to open it.
  const auto* gate = program.gate.empty() ? nullptr : map_gate(program.gate.c_str());
  if (!program.gate.empty() && gate == nullptr)
    fail_start(start_pipe, program.gate + " is no gate");
  const Result<std::string> file = prepare(program, stdio);
  if (!file) fail_start(start_pipe, file.error().message);
  const std::vector<char*> argv = pointers(program.argv);
  const std::vector<char*> environment = pointers(program.environment);
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  reset_signals();
  if (gate != nullptr) {
    mark_start(start_pipe, kHeldMark);
    wait_at_gate(*gate);
  }
  mark_start(start_pipe, kExecMark);
  execve(file->c_str(), argv.data(), environment.data());
  fail_start(start_pipe, fmt::format("exec {}: {}", *file, reason(errno)));
}

}  // namespace muster::runtime
