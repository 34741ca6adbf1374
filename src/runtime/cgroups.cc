#include "runtime/cgroups.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/errno_error.h"
#include "base/unique_fd.h"
#include "runtime/device_rules.h"
#include "runtime/read_file.h"

namespace muster::runtime {
namespace {

constexpr std::int64_t kPeriodMicros = 100'000;
constexpr int kAttempts = 8;
constexpr const char* kCpu = "cpu";
constexpr const char* kMemory = "memory";
constexpr const char* kPids = "pids";
// A controller of version 1 only; in version 2 programs in the kernel do its work (device_rules.h).
constexpr const char* kDevices = "devices";

std::string_view ability_of(std::string_view controller) {
  if (controller == kCpu) return kCpuLimits;
  if (controller == kDevices) return kDeviceRules;
  return controller == kMemory ? kMemoryLimits : kProcessLimits;
}
constexpr std::int64_t kLeastQuotaMicros = 1'000;  // the kernel takes no less

bool write_file(const std::string& path, std::string_view text) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.valid() &&
         write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool has_word(const std::string& text, std::string_view word) {
  std::istringstream words(text);
  for (std::string each; words >> each;) {
    if (each == word) return true;
  }
  return false;
}

bool has_option(std::string options, std::string_view option) {
  std::replace(options.begin(), options.end(), ',', ' ');
  return has_word(options, option);
}

// Where a hierarchy is mounted: of version 2, or the one of version 1 that has the controller.
struct Hierarchy {
  std::string mount_point;
  std::string root;  // what of it is mounted there
};
std::optional<Hierarchy> find_hierarchy(const std::string& mounts, std::string_view controller) {
  std::istringstream lines(mounts);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream left(line.substr(0, dash)), right(line.substr(dash + 3));
    std::string id, parent, device, root, mount_point, type, source, options;
    left >> id >> parent >> device >> root >> mount_point;
    right >> type >> source >> options;
    const bool wanted = controller.empty() ? type == "cgroup2"
                                           : type == "cgroup" && has_option(options, controller);
    if (wanted) return Hierarchy{mount_point, root};
  }
  return std::nullopt;
}

// Lines are id:controllers:path; version 2 has no controllers.
std::string own_group(std::string_view controller) {
  std::istringstream lines(read_file("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : has_option(names, controller)) {
      return line.substr(second + 1);
    }
  }
  return "/";
}

// The own group first, so that whoever limits the server limits its pods; then the topmost one.
std::vector<std::string> parents_in(const Hierarchy& hierarchy, std::string own) {
  if (hierarchy.root != "/" && own.starts_with(hierarchy.root)) own.erase(0, hierarchy.root.size());
  std::vector<std::string> parents;
  if (own.size() > 1) parents.push_back(hierarchy.mount_point + own);
  parents.push_back(hierarchy.mount_point);
  return parents;
}

bool make_folder(const std::string& path) {
  return mkdir(path.c_str(), 0755) == 0 || errno == EEXIST;
}

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_directory(error)) found.push_back(at->path());
  }
  return found;
}

// In version 2 a parent must hand the controller down, which it may not while it has processes of
// its own (except at the top).
bool hand_down(const std::string& folder, const std::string& controller) {
  if (!has_word(read_file(folder + "/cgroup.controllers"), controller)) {
    errno = ENOENT;
    return false;
  }
  const std::string file = folder + "/cgroup.subtree_control";
  return has_word(read_file(file), controller) || write_file(file, "+" + controller);
}

// The folder of all runs.
bool make_ours(const Cgroups::Controller& controller) {
  const bool handed_down =
      controller.version == Cgroups::Version::kTwo && controller.name != kDevices;
  return make_folder(controller.folder) &&
         (!handed_down || hand_down(controller.folder, controller.name));
}

// Where the shim of a pod goes: in version 2 a group with groups in it has no processes.
std::string shim_group(const Cgroups::Controller& controller, const std::string& uid) {
  const std::string pod = controller.folder + "/" + uid;
  return controller.version == Cgroups::Version::kTwo ? pod + "/shim" : pod;
}

// In version 1 that is more than making groups: CAP_SYS_ADMIN. The device is one that cannot be.
bool can_deny(const std::string& folder) { return write_file(folder + "/devices.deny", "c 0:0 m"); }

Cgroups::Controller find_controller(const std::string& mounts, const std::string& controller,
                                    const std::string& name) {
  std::string why = "this kernel has no such controller mounted";
  if (const auto two = find_hierarchy(mounts, "")) {
    for (const std::string& parent : parents_in(*two, own_group(""))) {
      const Cgroups::Controller found{controller, Cgroups::Version::kTwo, parent + "/" + name,
                                      "cgroup v2 at " + parent};
      const bool usable = hand_down(parent, controller) && make_ours(found);
      const int error = errno;
      rmdir(found.folder.c_str());
      if (usable) return found;
      errno = error;
      if (errno != ENOENT) {
        why = fmt::format(
            "cgroup v2 at {}: {}; start the server in a delegated group (systemd-run "
            "--user --scope -p Delegate=yes)",
            parent, std::strerror(errno));
      }
    }
  }
  if (const auto one = find_hierarchy(mounts, controller)) {
    for (const std::string& parent : parents_in(*one, own_group(controller))) {
      const Cgroups::Controller found{controller, Cgroups::Version::kOne, parent + "/" + name,
                                      "cgroup v1 at " + parent};
      const bool usable = make_ours(found) &&
                          access((found.folder + "/cgroup.procs").c_str(), W_OK) == 0 &&
                          (controller != kDevices || can_deny(found.folder));
      const int error = errno;
      rmdir(found.folder.c_str());
      if (usable) return found;
      why = fmt::format("cgroup v1 at {}: {}", parent, std::strerror(error));
    }
  }
  return {controller, Cgroups::Version::kNone, "", why};
}

// In version 2 a process is in one group, so the rules of devices belong where the limits are, if
// there are some. Tries it: whether the kernel takes a program depends on rights of many kinds.
Cgroups::Controller find_device_programs(const std::string& mounts, const std::string& name,
                                         const std::vector<Cgroups::Controller>& limits) {
  std::string why = "no control groups are mounted";
  const auto two = find_hierarchy(mounts, "");
  std::vector<std::string> folders;
  for (const std::string& parent :
       two ? parents_in(*two, own_group("")) : std::vector<std::string>{})
    folders.push_back(parent + "/" + name);
  for (const Cgroups::Controller& each : limits)
    if (each.version == Cgroups::Version::kTwo) folders = {each.folder};
  for (const std::string& folder : folders) {
    const std::string where =
        "cgroup v2 at " + std::filesystem::path(folder).parent_path().string();
    const bool made = make_folder(folder);
    const Status denied = made ? deny_devices_in(folder, {}) : Status(errno_error(folder));
    rmdir(folder.c_str());
    if (denied)
      return {kDevices, Cgroups::Version::kTwo, folder, where + ", by programs in the kernel"};
    why = fmt::format("{}: {}", where, denied.error().message);
  }
  return {kDevices, Cgroups::Version::kNone, "", why};
}

bool limit_cpu(Cgroups::Version version, const std::string& folder, std::int64_t millis) {
  const std::int64_t quota = std::max(millis * kPeriodMicros / 1000, kLeastQuotaMicros);
  if (version == Cgroups::Version::kTwo) {
    return write_file(folder + "/cpu.max", fmt::format("{} {}", quota, kPeriodMicros));
  }
  return write_file(folder + "/cpu.cfs_period_us", fmt::format("{}", kPeriodMicros)) &&
         write_file(folder + "/cpu.cfs_quota_us", fmt::format("{}", quota));
}

bool limit_memory(Cgroups::Version version, const std::string& folder, std::int64_t bytes) {
  const std::string limit = fmt::format("{}", bytes);
  if (version == Cgroups::Version::kTwo) {
    write_file(folder + "/memory.swap.max", "0");   // there is none without swap accounting
    write_file(folder + "/memory.oom.group", "1");  // half a container is no container
    return write_file(folder + "/memory.max", limit);
  }
  const bool limited = write_file(folder + "/memory.limit_in_bytes", limit);
  write_file(folder + "/memory.memsw.limit_in_bytes", limit);
  return limited;
}

}  // namespace

Status RunGroups::join() const {
  for (const std::string& folder : folders_) {
    if (write_file(folder + "/cgroup.procs", "0")) continue;
    return errno_error(fmt::format("cannot join {}", folder));
  }
  return {};
}

bool RunGroups::killed_for_memory() const {
  if (memory_folder_.empty()) return false;
  for (const char* file : {"/memory.events", "/memory.oom_control"}) {
    std::istringstream words(read_file(memory_folder_ + file));
    for (std::string word; words >> word;) {
      std::int64_t count = 0;
      if (word == "oom_kill" && words >> count && count > 0) return true;
    }
  }
  return false;
}

void RunGroups::remove() {
  for (const std::string& folder : folders_) rmdir(folder.c_str());
  folders_.clear();
}

Cgroups Cgroups::find(const std::string& name) {
  return find(name, read_file("/proc/self/mountinfo"));
}

Cgroups Cgroups::find(const std::string& name, const std::string& mounts) {
  std::vector<Controller> limits;
  for (const char* controller : {kCpu, kMemory, kPids})
    limits.push_back(find_controller(mounts, controller, name));
  Controller devices = find_hierarchy(mounts, kDevices)
                           ? find_controller(mounts, kDevices, name)
                           : find_device_programs(mounts, name, limits);
  Cgroups found;
  found.controllers_ = std::move(limits);
  found.controllers_.push_back(std::move(devices));
  return found;
}

const Cgroups::Controller& Cgroups::controller(std::string_view name) const {
  for (const Controller& each : controllers_) {
    if (each.name == name) return each;
  }
  static const Controller kAbsent{};
  return kAbsent;
}

std::vector<Ability> Cgroups::abilities() const {
  std::vector<Ability> abilities;
  for (const Controller& each : controllers_) {
    abilities.push_back(
        {std::string(ability_of(each.name)), each.version != Cgroups::Version::kNone, each.detail});
  }
  return abilities;
}

// Another pod's removal may take the common folder away in between.
Status Cgroups::make_pod(const Controller& controller, const std::string& uid) {
  const std::string folder = controller.folder + "/" + uid;
  // In version 1 the common folder has but to be there, and mostly is.
  if (controller.version == Version::kOne && make_folder(folder)) return {};
  for (int i = 0; i < kAttempts; ++i) {
    if (make_ours(controller) && make_folder(folder)) return {};
  }
  return errno_error(folder);
}

Status Cgroups::enter_pod(const std::string& uid, std::int64_t processes) const {
  const Controller& pids = controller(kPids);
  if (processes == 0 || pids.version == Version::kNone) return {};
  MUSTER_CHECK(make_pod(pids, uid));
  const std::string folder = pids.folder + "/" + uid, own = shim_group(pids, uid);
  if (write_file(folder + "/pids.max", fmt::format("{}", processes)) && make_folder(own) &&
      write_file(own + "/cgroup.procs", "0"))
    return {};
  return errno_error("cannot limit processes");
}

void Cgroups::deny_devices(const std::string& uid, const std::vector<int>& majors) const {
  const Controller& devices = controller(kDevices);
  if (majors.empty() || devices.version == Version::kNone || !make_pod(devices, uid)) return;
  const std::string folder = devices.folder + "/" + uid, own = shim_group(devices, uid);
  if (devices.version == Version::kTwo) {
    if (!deny_devices_in(folder, majors)) return;
  } else {
    for (const int major : majors)
      write_file(folder + "/devices.deny", fmt::format("c {}:* rwm", major));
  }
  if (make_folder(own)) write_file(own + "/cgroup.procs", "0");
}

Result<RunGroups> Cgroups::make(const std::string& uid, const std::string& run,
                                const Limits& limits) const {
  RunGroups groups;
  const auto add = [&](const Controller& controller) -> Result<std::string> {
    MUSTER_CHECK(make_pod(controller, uid));
    const std::string pod = controller.folder + "/" + uid, folder = pod + "/" + run;
    const bool made = (controller.version != Version::kTwo || hand_down(pod, controller.name)) &&
                      make_folder(folder);
    if (!made) return errno_error(folder);
    if (std::ranges::find(groups.folders_, folder) == groups.folders_.end())
      groups.folders_.push_back(folder);
    return folder;
  };
  const auto cannot = [&](std::string_view what) {
    const int why = errno;
    groups.remove();
    return fail(Code::kInternal, fmt::format("cannot limit {}: {}", what, std::strerror(why)));
  };
  const Controller& cpu = controller("cpu");
  if (limits.cpu_millis && cpu.version != Version::kNone) {
    MUSTER_TRY(const std::string folder, add(cpu));
    if (!limit_cpu(cpu.version, folder, *limits.cpu_millis)) return cannot("cpu");
  }
  const Controller& memory = controller("memory");
  if (limits.memory_bytes && memory.version != Version::kNone) {
    MUSTER_TRY(groups.memory_folder_, add(memory));
    if (!limit_memory(memory.version, groups.memory_folder_, *limits.memory_bytes))
      return cannot("memory");
  }
  return groups;
}

// The common folder goes with the last pod in it; until then that fails.
void Cgroups::remove_pod(const std::string& uid) const {
  for (const Controller& each : controllers_) {
    const std::string folder = each.folder + "/" + uid;
    if (each.version == Version::kNone) continue;
    if (rmdir(folder.c_str()) != 0) {
      if (errno == ENOENT) continue;
      for (const std::string& inner : folders_in(folder)) rmdir(inner.c_str());
      rmdir(folder.c_str());
    }
    rmdir(each.folder.c_str());
  }
}

}  // namespace muster::runtime
