#include "runtime/oci_container.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/errno_error.h"
#include "json/parse.h"
#include "runtime/file_limit.h"
#include "runtime/gate.h"
#include "runtime/oci_bundle.h"
#include "runtime/oci_config.h"

namespace muster::runtime {
namespace {

constexpr const char* kContainer = "container";  // one per bundle: any name does
constexpr const char* kLog = "log";
constexpr const char* kPid = "pid";

// Control groups are ours to keep: it must neither make any nor mind that it cannot.
std::vector<std::string> command_line(const std::string& oci_program,
                                      std::initializer_list<std::string> verb) {
  const bool is_crun = std::filesystem::path(oci_program).filename() == "crun";
  std::vector<std::string> argv = {oci_program, "--root=state", fmt::format("--log={}", kLog),
                                   "--log-format=json",
                                   is_crun ? "--cgroup-manager=disabled" : "--rootless=true"};
  argv.insert(argv.end(), verb);
  argv.emplace_back(kContainer);
  return argv;
}

[[noreturn]] void execute(const std::vector<std::string>& argv, const Stdio& stdio,
                          int start_pipe) {
  take_stdio(stdio);
  umask(022);
  unblock_signals();
  std::vector<char*> pointers;
  for (const std::string& word : argv) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  std::string path = fmt::format("PATH={}", kDefaultPath);
  char* const environment[] = {path.data(), nullptr};
  execve(pointers.front(), pointers.data(), environment);
  fail_start(start_pipe, fmt::format("{}: {}", argv.front(), std::strerror(errno)));
}

// The last error that it wrote down, in its own words.
std::string why_it_failed(const std::string& oci_program, std::string_view verb) {
  std::string why = fmt::format("{} {} failed", oci_program, verb);
  std::ifstream log(kLog);
  for (std::string line; std::getline(log, line);) {
    json::Arena arena;
    const auto entry = json::parse(arena, line);
    if (entry && entry->get("level").as_string() == "error") why = entry->get("msg").as_string();
  }
  return why;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Limits first: they count for all that is made from here on.
[[noreturn]] void create(const RunSpec& run, const Program& program,
                         std::vector<View::Source> sources, const Stdio& stdio, int start_pipe) {
  setsid();
  restore_file_limit();
  Status ready = program.groups.join();
  if (ready && !program.gate.empty() && map_gate(program.gate.c_str()) == nullptr) {
    ready = fail(Code::kInternal, program.gate + " is no gate");
  }
  if (ready) ready = set_up_bundle(program.bundle, run, std::move(sources));
  if (!ready) fail_start(start_pipe, ready.error().message);
  execute(
      command_line(run.oci_program, {"create", "--bundle=.", fmt::format("--pid-file={}", kPid)}),
      stdio, start_pipe);
}

// All that is left to do is to tell the container's process to execute its program.
[[noreturn]] void start(const RunSpec& run, const Program& program, pid_t container,
                        int start_pipe) {
  const auto* gate = program.gate.empty() ? nullptr : map_gate(program.gate.c_str());
  if (gate != nullptr) {
    mark_start(start_pipe, kHeldMark);
    wait_at_gate(*gate);
  }
  mark_start(start_pipe, kExecMark);
  const Stdio quiet{.errors = STDOUT_FILENO};  // it says more in its log
  const pid_t child = fork();
  if (child == 0) execute(command_line(run.oci_program, {"start"}), quiet, start_pipe);
  if (child > 0 && wait_for(child) == 0) _exit(0);
  const std::string text = kErrorMark + why_it_failed(run.oci_program, "start");
  [[maybe_unused]] const ssize_t written = write(start_pipe, text.data(), text.size());
  kill(container, SIGKILL);
  _exit(kStartErrorCode);
}

Result<pid_t> read_pid() {
  std::ifstream file(kPid);
  pid_t pid = 0;
  if (file >> pid && pid > 0) return pid;
  return fail(Code::kInternal, "the OCI runtime did not say which process the container is");
}

Status limit_capabilities() {
  std::uint64_t kept = 0;
  for (const OciCapability& each : kOciCapabilities) kept |= std::uint64_t{1} << each.number;
  for (int number = 0; prctl(PR_CAPBSET_READ, number) >= 0; ++number) {
    if ((kept >> number & 1) == 0 && prctl(PR_CAPBSET_DROP, number) != 0) {
      return errno_error("capabilities cannot be dropped");
    }
  }
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[2] = {};
  for (int half = 0; half < 2; ++half) {
    data[half].effective = data[half].permitted = static_cast<std::uint32_t>(kept >> (32 * half));
  }
  if (syscall(SYS_capset, &header, data) == 0) return {};
  return errno_error("capabilities cannot be dropped");
}

}  // namespace

Result<std::string> find_oci_program(std::string_view wanted) {
  const char* const path = std::getenv("PATH");
  // Those of ordinary users leave out where runc is.
  const std::vector<std::string> places = {
      fmt::format("PATH={}:{}", path == nullptr ? "" : path, "/usr/local/sbin:/usr/sbin:/sbin")};
  for (const char* name : {"crun", "runc"}) {
    if (wanted != kAnyOciProgram && wanted != name) continue;
    if (auto found = find_program(name, places)) return found;
  }
  return fail(Code::kNotFound,
              wanted == kAnyOciProgram
                  ? "neither crun nor runc is installed; on Debian: apt-get install crun"
                  : fmt::format("{0} is not installed; on Debian: apt-get install {0}", wanted));
}

Result<pid_t> make_container(const RunSpec& run, const Program& program,
                             std::vector<View::Source> sources, const Stdio& stdio,
                             int start_pipe) {
  const pid_t creator = fork();
  if (creator < 0) return errno_error("fork");
  if (creator == 0) create(run, program, std::move(sources), stdio, start_pipe);
  const int status = wait_for(creator);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kStartErrorCode) _exit(kStartErrorCode);
  if (chdir(program.bundle.c_str()) != 0) return errno_error(program.bundle);
  if (status != 0) return fail(Code::kInternal, why_it_failed(run.oci_program, "create"));
  MUSTER_TRY(const pid_t container, read_pid());
  const pid_t starter = fork();
  if (starter < 0) return errno_error("fork");
  if (starter == 0) start(run, program, container, start_pipe);
  return container;
}

Status join_container(Program& program) {
  if (chdir(program.bundle.c_str()) != 0) return errno_error(program.bundle);
  MUSTER_TRY(const pid_t pid, read_pid());
  const UniqueFd container(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const bool as_root = geteuid() == 0;
  if (!container.valid() ||
      setns(container.get(), CLONE_NEWNS | (as_root ? 0 : CLONE_NEWUSER)) != 0) {
    return errno_error("the container cannot be joined");
  }
  if (!as_root) program.user.reset();  // there is no other one in it
  return limit_capabilities();
}

}  // namespace muster::runtime
