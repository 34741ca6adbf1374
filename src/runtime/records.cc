#include "runtime/records.h"

namespace muster::runtime {
namespace {

using json::Arena;
using json::Value;

std::string text(Value object, std::string_view key) {
  return std::string(object.get(key).as_string());
}

int number(Value object, std::string_view key) {
  return static_cast<int>(object.get(key).as_int());
}

std::int64_t micros(Time time) { return time.time_since_epoch().count(); }

Time time_from(Value value) { return Time{Duration{value.as_int()}}; }

Value user_to_json(Arena& arena, const User& user) {
  Value value = Value::object(arena);
  value.set("uid", Value::of(user.uid));
  value.set("gid", Value::of(user.gid));
  const Value groups = value.array_at("groups");
  for (const std::uint32_t group : user.groups) groups.push_back(Value::of(group));
  return value;
}

User user_from(Value value) {
  User user{.uid = static_cast<std::uint32_t>(value.get("uid").as_uint()),
            .gid = static_cast<std::uint32_t>(value.get("gid").as_uint()),
            .groups = {}};
  for (const Value group : value.get("groups").items()) {
    user.groups.push_back(static_cast<std::uint32_t>(group.as_uint()));
  }
  return user;
}

Value mounts_to_json(Arena& arena, const std::vector<Mount>& mounts) {
  const Value list = Value::array(arena, mounts.size());
  for (const Mount& mount : mounts) {
    const Value value = Value::object(arena);
    value.set("source", mount.source);
    value.set("target", mount.target);
    value.set("readOnly", Value::of(mount.read_only));
    if (mount.as_user) value.set("asUser", Value::of(true));
    list.push_back(value);
  }
  return list;
}

std::vector<Mount> mounts_from(Value list) {
  std::vector<Mount> mounts;
  for (const Value value : list.items()) {
    mounts.push_back({.source = text(value, "source"),
                      .target = text(value, "target"),
                      .read_only = value.get("readOnly").as_bool(),
                      .as_user = value.get("asUser").as_bool()});
  }
  return mounts;
}

Value exit_to_json(Arena& arena, const Exit& exit) {
  const Value value = Value::object(arena);
  value.set("code", Value::of(exit.code));
  if (exit.signal != 0) value.set("signal", Value::of(exit.signal));
  if (exit.out_of_memory) value.set("outOfMemory", Value::of(true));
  if (exit.lost) value.set("lost", Value::of(true));
  if (!exit.start_error.empty()) value.set("startError", exit.start_error);
  value.set("finished", Value::of(micros(exit.finished)));
  return value;
}

Exit exit_from(Value value) {
  return {.code = number(value, "code"),
          .signal = number(value, "signal"),
          .out_of_memory = value.get("outOfMemory").as_bool(),
          .lost = value.get("lost").as_bool(),
          .start_error = text(value, "startError"),
          .finished = time_from(value.get("finished"))};
}

}  // namespace

Value strings_to_json(Arena& arena, const std::vector<std::string>& strings) {
  const Value list = Value::array(arena, strings.size());
  for (const std::string& string : strings) list.push_back(Value::string(arena, string));
  return list;
}

std::vector<std::string> strings_from(Value value) {
  std::vector<std::string> strings;
  for (const Value item : value.items()) strings.emplace_back(item.as_string());
  return strings;
}

Value to_json(Arena& arena, const PodSpec& pod) {
  const Value value = Value::object(arena);
  value.set("uid", pod.uid);
  value.set("name", pod.name);
  value.set("hostname", pod.hostname);
  value.set("hostsFile", pod.hosts_file);
  if (pod.processes != 0) value.set("processes", Value::of(pod.processes));
  for (const int major : pod.denied_devices)
    value.array_at("deniedDevices").push_back(Value::of(major));
  if (!pod.hidden.empty()) value.set("hidden", strings_to_json(arena, pod.hidden));
  return value;
}

PodSpec pod_spec_from(Value value) {
  PodSpec pod{.uid = text(value, "uid"),
              .name = text(value, "name"),
              .hostname = text(value, "hostname"),
              .hosts_file = text(value, "hostsFile"),
              .processes = value.get("processes").as_int(),
              .hidden = strings_from(value.get("hidden"))};
  for (const Value major : value.get("deniedDevices").items())
    pod.denied_devices.push_back(static_cast<int>(major.as_int()));
  return pod;
}

Value to_json(Arena& arena, const RunSpec& run) {
  const Value value = Value::object(arena, 16);
  value.set("container", run.container);
  value.set("number", Value::of(run.number));
  value.set("argv", strings_to_json(arena, run.argv));
  value.set("environment", strings_to_json(arena, run.environment));
  value.set("workingDirectory", run.working_directory);
  value.set("mounts", mounts_to_json(arena, run.mounts));
  if (run.user) value.set("user", user_to_json(arena, *run.user));
  if (run.user_processes != 0) value.set("userProcesses", Value::of(run.user_processes));
  if (run.limits.cpu_millis) value.set("cpuMillis", Value::of(*run.limits.cpu_millis));
  if (run.limits.memory_bytes) value.set("memoryBytes", Value::of(*run.limits.memory_bytes));
  value.set("readOnlyRoot", Value::of(run.read_only_root));
  if (!run.rootfs.empty()) value.set("rootfs", run.rootfs);
  if (!run.rootfs.empty()) value.set("ociProgram", run.oci_program);
  value.set("logFile", run.log_file);
  value.set("terminationLog", run.termination_log);
  value.set("terminationLogPath", run.termination_log_path);
  value.set("gate", run.gate);
  return value;
}

RunSpec run_spec_from(Value value) {
  RunSpec run{.container = text(value, "container"),
              .number = number(value, "number"),
              .argv = strings_from(value.get("argv")),
              .environment = strings_from(value.get("environment")),
              .working_directory = text(value, "workingDirectory"),
              .mounts = mounts_from(value.get("mounts")),
              .user = {},
              .user_processes = value.get("userProcesses").as_int(),
              .limits = {},
              .read_only_root = value.get("readOnlyRoot").as_bool(),
              .rootfs = text(value, "rootfs"),
              .oci_program = text(value, "ociProgram"),
              .log_file = text(value, "logFile"),
              .termination_log = text(value, "terminationLog"),
              .termination_log_path = text(value, "terminationLogPath"),
              .gate = text(value, "gate")};
  if (const Value* user = value.find("user")) run.user = user_from(*user);
  if (const Value* cpu = value.find("cpuMillis")) run.limits.cpu_millis = cpu->as_int();
  if (const Value* memory = value.find("memoryBytes")) run.limits.memory_bytes = memory->as_int();
  return run;
}

Value to_json(Arena& arena, const RunState& state) {
  const Value value = Value::object(arena);
  value.set("container", state.id.container);
  value.set("number", Value::of(state.id.number));
  value.set("containerId", state.container_id);
  value.set("phase", Value::of(static_cast<int>(state.phase)));
  if (state.started) value.set("started", Value::of(micros(*state.started)));
  if (state.exit) value.set("exit", exit_to_json(arena, *state.exit));
  return value;
}

RunState run_state_from(Value value, const std::string& pod_uid) {
  RunState state{.id = {pod_uid, text(value, "container"), number(value, "number")},
                 .container_id = text(value, "containerId"),
                 .phase = static_cast<RunPhase>(number(value, "phase")),
                 .started = {},
                 .exit = {}};
  if (const Value* started = value.find("started")) state.started = time_from(*started);
  if (const Value* exit = value.find("exit")) state.exit = exit_from(*exit);
  return state;
}

Value to_json(Arena& arena, const Ability& ability) {
  const Value value = Value::object(arena);
  value.set("name", ability.name);
  value.set("available", Value::of(ability.available));
  value.set("detail", ability.detail);
  return value;
}

Ability ability_from(Value value) {
  return {.name = text(value, "name"),
          .available = value.get("available").as_bool(),
          .detail = text(value, "detail")};
}

}  // namespace muster::runtime
