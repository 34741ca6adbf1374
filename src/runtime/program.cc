#include "runtime/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "base/ascii.h"
#include "runtime/file_limit.h"
#include "runtime/gate.h"
#include "runtime/terminals.h"

namespace muster::runtime {
namespace {

// "no such file or directory", as container runtimes write it.
std::string reason(int number) {
  std::string text = std::strerror(number);
  if (!text.empty()) text[0] = lower_case(text[0]);
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

// The kernel compares it with what the real user has, at each new process. A lower limit that the
// server was started with stays.
Status limit_processes(std::int64_t most) {
  rlimit limit{};
  if (most == 0) return {};
  const bool known = getrlimit(RLIMIT_NPROC, &limit) == 0;
  limit.rlim_cur = std::min(limit.rlim_cur, static_cast<rlim_t>(most));
  limit.rlim_max = std::min(limit.rlim_max, static_cast<rlim_t>(most));
  if (known && setrlimit(RLIMIT_NPROC, &limit) == 0) return {};
  return refuse(fmt::format("cannot limit processes: {}", reason(errno)));
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
    // As the kernel has it unless told otherwise (fs.suid_dumpable): memory may be shared with
    // root.
    prctl(PR_SET_DUMPABLE, 0);
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

// As the user, whose the terminal becomes, so that he can open it by its name too.
Status become_session_of_terminal(int handover) {
  MUSTER_TRY(const UniqueFd terminal, take_terminal(handover));
  take_stdio({.input = terminal.get(), .output = terminal.get(), .errors = terminal.get()});
  ioctl(STDIN_FILENO, TIOCSCTTY, 0);
  return {};
}

// Everything that can fail, in the order in which a container runtime does it.
Result<std::string> prepare(const Program& program, const Stdio& stdio) {
  MUSTER_CHECK(program.groups.join());
  if (!stdio.terminal) take_stdio(stdio);
  umask(022);
  restore_file_limit();
  MUSTER_CHECK(limit_processes(program.user_processes));
  if (program.user) MUSTER_CHECK(become(*program.user));
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return refuse("no_new_privs is not to be had");
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // again: it is lost with a change of the user
  if (stdio.terminal) MUSTER_CHECK(become_session_of_terminal(stdio.input));
  MUSTER_CHECK(enter(program));
  if (program.argv.empty()) return refuse("no command");
  return find_program(program.argv.front(), program.environment);
}

// Asks for no memory.
[[noreturn]] void fail_exec(int start_pipe, std::string_view file, int number) {
  const char* const known = strerrordesc_np(number);
  const char* const why = known != nullptr ? known : "Unknown error";
  std::array<char, PIPE_BUF - 1> text;  // with the mark it is written at once
  const auto end = fmt::format_to_n(text.data(), text.size(), "exec {}: {}{}", file,
                                    lower_case(why[0]), why + 1);
  fail_start(start_pipe, {text.data(), std::min(end.size, text.size())});
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
}

void unblock_signals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void mark_start(int start_pipe, char what) {
  [[maybe_unused]] const ssize_t written = write(start_pipe, &what, 1);
}

void fail_start(int start_pipe, std::string_view why) {
  char mark = kErrorMark;
  const std::array<iovec, 2> text = {iovec{&mark, 1},
                                     iovec{const_cast<char*>(why.data()), why.size()}};
  [[maybe_unused]] const ssize_t written = writev(start_pipe, text.data(), text.size());
  _exit(kStartErrorCode);
}

void run_program(const Program& program, const Stdio& stdio, int start_pipe, const Hold& hold) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const Result<std::string> file = prepare(program, stdio);
  if (!file) fail_start(start_pipe, file.error().message);
  const std::vector<char*> argv = pointers(program.argv);
  const std::vector<char*> environment = pointers(program.environment);
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  unblock_signals();
  if (hold.gate != nullptr) {
    const std::atomic<std::uint32_t>& gate = *hold.gate;
    mark_start(start_pipe, kHeldMark);
    if (hold.memory != nullptr) hold.memory->give_back();
    wait_at_gate(gate);
  }
  mark_start(start_pipe, kExecMark);
  execve(file->c_str(), argv.data(), environment.data());
  // Of one that gave its memory back errno is its init's, too, which waits: at worst the reason is
  // wrong.
  fail_exec(start_pipe, *file, errno);
}

}  // namespace muster::runtime
