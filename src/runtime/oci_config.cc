#include "runtime/oci_config.h"

#include <initializer_list>
#include <string_view>

#include "json/write.h"
#include "runtime/records.h"

namespace muster::runtime {
namespace {

using json::Arena;
using json::Value;

Value words(Arena& arena, std::initializer_list<std::string_view> texts) {
  const Value list = Value::array(arena, texts.size());
  for (const std::string_view text : texts) list.push_back(Value::string(arena, text));
  return list;
}

Value user_of(Arena& arena, const RunSpec& run, const OciCaller& caller) {
  const User user = caller.uid == 0 ? run.user.value_or(User{}) : User{};
  const Value value = Value::object(arena);
  value.set("uid", Value::of(user.uid));
  value.set("gid", Value::of(user.gid));
  if (user.groups.empty()) return value;
  const Value groups = value.array_at("additionalGids");
  for (const std::uint32_t group : user.groups) groups.push_back(Value::of(group));
  return value;
}

Value capabilities_of(Arena& arena, bool is_root) {
  const Value names = Value::array(arena);
  for (const OciCapability& each : kOciCapabilities) {
    if (is_root) names.push_back(Value::view(each.name));
  }
  const Value value = Value::object(arena);
  for (const std::string_view set : {"bounding", "effective", "permitted"}) value.set(set, names);
  return value;
}

struct OciLimit {
  std::uint64_t soft, hard;
};

void add_limit(Value process, std::string_view type, const OciLimit& limit) {
  const Value value = Value::object(process.arena());
  value.set("type", type);
  value.set("soft", Value::of(limit.soft));
  value.set("hard", Value::of(limit.hard));
  process.array_at("rlimits").push_back(value);
}

Value process_of(Arena& arena, const RunSpec& run, const OciCaller& caller) {
  const Value user = user_of(arena, run, caller);
  const std::string& cwd = run.working_directory;
  const Value process = Value::object(arena);
  process.set("terminal", Value::of(false));
  process.set("user", user);
  process.set("args", strings_to_json(arena, run.argv));
  process.set("env", strings_to_json(arena, run.environment));
  process.set("cwd", cwd.starts_with('/') ? cwd : "/" + cwd);
  process.set("capabilities", capabilities_of(arena, user.get("uid").as_int() == 0));
  process.set("noNewPrivileges", Value::of(true));
  add_limit(process, "RLIMIT_NOFILE", {caller.open_files, caller.most_open_files});
  const auto processes = static_cast<std::uint64_t>(run.user_processes);
  if (processes != 0) add_limit(process, "RLIMIT_NPROC", {processes, processes});
  return process;
}

struct OciMount {
  std::string_view target, type, source;
  std::initializer_list<std::string_view> options;
};

void add(Value list, const OciMount& mount) {
  const Value value = Value::object(list.arena());
  value.set("destination", mount.target);
  value.set("type", mount.type);
  value.set("source", mount.source);
  value.set("options", words(list.arena(), mount.options));
  list.push_back(value);
}

// /proc and /sys are those that the caller sees: of its process namespace, and read-only. Making
// new ones is for the owner of those namespaces, which a container of an ordinary user is not.
Value mounts_of(Arena& arena, const std::vector<Mount>& mounts) {
  const Value list = Value::array(arena);
  add(list, {"/proc", "bind", "/proc", {"rbind", "nosuid", "noexec", "nodev"}});
  add(list, {"/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}});
  add(list, {"/dev/pts",
             "devpts",
             "devpts",
             {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}});
  add(list, {"/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777"}});
  add(list, {"/sys", "bind", "/sys", {"rbind", "nosuid", "noexec", "nodev", "ro"}});
  for (const Mount& mount : mounts) {
    add(list,
        {mount.target, "bind", mount.source, {"rbind", mount.read_only ? "ro" : "rw", "rprivate"}});
  }
  return list;
}

Value one_id(Arena& arena, std::uint32_t id) {
  const Value mapping = Value::object(arena);
  mapping.set("containerID", Value::of(0));
  mapping.set("hostID", Value::of(id));
  mapping.set("size", Value::of(1));
  const Value list = Value::array(arena);
  list.push_back(mapping);
  return list;
}

Value linux_of(Arena& arena, const OciCaller& caller) {
  const Value value = Value::object(arena);
  const Value namespaces = value.array_at("namespaces");
  const auto add_namespace = [&](std::string_view type) {
    const Value each = Value::object(arena);
    each.set("type", type);
    namespaces.push_back(each);
  };
  add_namespace("mount");
  if (caller.uid != 0) {
    add_namespace("user");
    value.set("uidMappings", one_id(arena, caller.uid));
    value.set("gidMappings", one_id(arena, caller.gid));
  }
  // What of /proc and /sys belongs to the whole machine.
  value.set("maskedPaths",
            words(arena, {"/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
                          "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
                          "/proc/scsi", "/sys/firmware"}));
  value.set("readonlyPaths", words(arena, {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                           "/proc/sysrq-trigger"}));
  return value;
}

}  // namespace

std::string oci_config(const RunSpec& run, const std::vector<Mount>& mounts,
                       const OciCaller& caller) {
  Arena arena;
  const Value root = Value::object(arena);
  root.set("path", kOciRoot);
  root.set("readonly", Value::of(run.read_only_root));
  const Value config = Value::object(arena);
  config.set("ociVersion", "1.0.2");
  config.set("process", process_of(arena, run, caller));
  config.set("root", root);
  config.set("mounts", mounts_of(arena, mounts));
  config.set("linux", linux_of(arena, caller));
  return json::write(config);
}

}  // namespace muster::runtime
