#include "runtime/process_identity.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>

#include "base/result.h"

namespace muster::runtime {
namespace {

// Files of /proc come in one piece and are short.
std::string read_short_file(const char* path) {
  const UniqueFd file(open(path, O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text;
  const ssize_t got = file.valid() ? read(file.get(), text.data(), text.size()) : 0;
  return std::string(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
}

template <class Number>
Number parse(std::string_view text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

struct Stat {
  char state = 0;
  pid_t parent = 0;
  std::uint64_t start_ticks = 0;
};

// Fields are counted behind the name, which may contain anything.
std::optional<Stat> stat_of(pid_t pid) {
  const std::string text = read_short_file(fmt::format("/proc/{}/stat", pid).c_str());
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(name_end + 1);
  Stat stat;
  constexpr int kState = 1, kParent = 2, kStart = 20;
  for (int field = 1; field <= kStart && !rest.empty(); ++field) {
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (field == kState && !word.empty()) stat.state = word[0];
    if (field == kParent) stat.parent = parse<pid_t>(word);
    if (field == kStart) stat.start_ticks = parse<std::uint64_t>(word);
    rest.remove_prefix(word.size());
  }
  return stat;
}

// Read once, by the keeper: its shims inherit it.
const std::string& boot_id() {
  static const std::string kId = [] {
    std::string id = read_short_file("/proc/sys/kernel/random/boot_id");
    if (id.ends_with('\n')) id.pop_back();
    return id;
  }();
  return kId;
}

// For kernels that do not list children.
std::vector<pid_t> children_by_scan() {
  std::vector<pid_t> children;
  DIR* const folder = opendir("/proc");
  if (folder == nullptr) return children;
  while (const dirent* entry = readdir(folder)) {
    const pid_t pid = parse<pid_t>(entry->d_name);
    if (pid <= 0) continue;
    const auto stat = stat_of(pid);
    if (stat && stat->parent == getpid()) children.push_back(pid);
  }
  closedir(folder);
  return children;
}

std::vector<pid_t> own_children() {
  const std::string path = fmt::format("/proc/self/task/{}/children", getpid());
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return children_by_scan();
  std::string text;
  std::array<char, 4096> part;
  ssize_t got = 0;
  while ((got = read(file.get(), part.data(), part.size())) > 0) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  std::vector<pid_t> children;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (!word.empty()) children.push_back(parse<pid_t>(word));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return children;
}

}  // namespace

std::optional<ProcessIdentity> identity_of(pid_t pid) {
  const auto stat = stat_of(pid);
  if (!stat) return std::nullopt;
  return ProcessIdentity{pid, stat->start_ticks, boot_id()};
}

pid_t parent_of(pid_t pid) {
  const auto stat = stat_of(pid);
  return stat ? stat->parent : 0;
}

UniqueFd open_process(const ProcessIdentity& process) {
  if (process.pid <= 0) return {};
  UniqueFd handle(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  if (!handle.valid()) return {};
  // The handle is of whoever has the number now; what stat says after it is about the same one.
  const auto stat = stat_of(process.pid);
  const bool same = stat && stat->start_ticks == process.start_ticks && stat->state != 'Z' &&
                    stat->state != 'X' && process.boot_id == boot_id();
  if (!same) return {};
  return handle;
}

Status kill_process(const UniqueFd& process, int signal) {
  if (syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0) return {};
  return fail(Code::kInternal, std::strerror(errno));
}

bool kill_children_but(const std::set<pid_t>& kept) {
  bool any = false;
  for (const pid_t child : own_children()) {
    if (kept.contains(child)) continue;
    kill(child, SIGKILL);
    any = true;
  }
  return any;
}

json::Value to_json(json::Arena& arena, const ProcessIdentity& process) {
  const json::Value value = json::Value::object(arena);
  value.set("pid", json::Value::of(process.pid));
  value.set("startTicks", json::Value::of(process.start_ticks));
  value.set("bootId", process.boot_id);
  return value;
}

ProcessIdentity identity_from(json::Value value) {
  return {.pid = static_cast<pid_t>(value.get("pid").as_int()),
          .start_ticks = value.get("startTicks").as_uint(),
          .boot_id = std::string(value.get("bootId").as_string())};
}

}  // namespace muster::runtime
