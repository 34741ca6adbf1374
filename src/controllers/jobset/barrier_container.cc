#include "controllers/jobset/barrier_container.h"

#include <string_view>

#include "api/views/job_set_names.h"
#include "controllers/jobset/barrier.h"
#include "controllers/jobset/names.h"

namespace muster::controllers::jobset {
namespace {

using json::Arena;
using json::Value;

constexpr std::string_view kVolume = "group-scheduling";
constexpr std::string_view kMountPath = "/mnt/group-scheduling";

// The first process of a container hears no signal that it does not ask for. bash counts begun
// seconds: only the one after the last is surely over. Without a count nobody but this very pod is
// known to have started.
constexpr std::string_view kLoop = R"(trap 'exit 143' TERM
cd /mnt/group-scheduling
named() { [ -z "$COORDINATOR" ] || [ -f coordinator-ended ] || getent hosts "$COORDINATOR" > /dev/null; }
until [ -f started ] && named; do
  if [ -n "$TIMEOUT_SECONDS" ] && [ "$SECONDS" -gt "$TIMEOUT_SECONDS" ]; then
    if [ -f started ]; then
      why="all $GROUP_SIZE pods had started, but the name $COORDINATOR was not known"
    else
      missing=$(cat missing 2> /dev/null)
      why="$(cat progress 2> /dev/null || echo 1) of $GROUP_SIZE pods had started${missing:+; missing: $missing}"
    fi
    echo "the group did not start within $TIMEOUT_SECONDS s: $why" | tee /dev/termination-log >&2
    exit 1
  fi
  sleep 1
done
)";

Value named(Arena& arena, std::string_view name) {
  const Value out = Value::object(arena, 4);
  out.set("name", name);
  return out;
}

void add_variable(Value container, std::string_view name, std::string_view text) {
  const Value variable = named(container.arena(), name);
  variable.set("value", text);
  container.array_at("env").push_back(variable);
}

// As much as the first container has, which it gives back before that one starts: so the pod needs
// no more than before, keeps its quality of service, and passes where limits are demanded.
void take_resources(Value container, Value from) {
  for (const std::string_view part : {"requests", "limits"}) {
    for (const std::string_view resource : {"cpu", "memory"}) {
      const Value amount = from.get({"resources", part, resource});
      if (!amount.is_null()) container.object_at("resources").object_at(part).set(resource, amount);
    }
  }
}

void take_no_privileges(Value container) {
  const Value security = container.object_at("securityContext");
  security.set("allowPrivilegeEscalation", Value::of(false));
  security.object_at("capabilities").array_at("drop").push_back(Value::view("ALL"));
  security.object_at("seccompProfile").set("type", "RuntimeDefault");
}

Value container_of(Arena& arena, const api::JobSet& set, const BarrierProgram& program) {
  const Value out = named(arena, api::kBarrierContainer);
  out.set("image", program.image);
  const Value command = out.array_at("command");
  if (program.command.empty()) {
    for (const std::string_view word : {std::string_view("bash"), std::string_view("-c"), kLoop})
      command.push_back(Value::view(word));
  }
  for (const std::string& word : program.command) command.push_back(Value::string(arena, word));
  add_variable(out, "GROUP_SIZE", std::to_string(barrier_size(set)));
  if (const auto timeout = set.group_scheduling->timeout_after_seconds)
    add_variable(out, "TIMEOUT_SECONDS", std::to_string(*timeout));
  if (waits_for_name(set)) add_variable(out, "COORDINATOR", coordinator_endpoint(set));
  const Value mount = named(arena, kVolume);
  mount.set("mountPath", kMountPath);
  mount.set("readOnly", Value::of(true));
  out.array_at("volumeMounts").push_back(mount);
  take_no_privileges(out);
  return out;
}

void add_file(Value config_map, std::string_view key, std::string_view path) {
  const Value file = Value::object(config_map.arena(), 2);
  file.set("key", key);
  file.set("path", path);
  config_map.array_at("items").push_back(file);
}

Value volume_of(Arena& arena, const api::JobSet& set, std::int32_t attempt) {
  const Value out = named(arena, kVolume);
  const Value config_map = out.object_at("configMap");
  config_map.set("name", barrier_config_map(set));
  config_map.set("optional", Value::of(true));
  add_file(config_map, started_key(attempt), "started");
  if (set.group_scheduling->timeout_after_seconds) {
    add_file(config_map, progress_key(attempt), "progress");
    add_file(config_map, missing_key(attempt), "missing");
  }
  if (waits_for_name(set)) add_file(config_map, coordinator_key(attempt), "coordinator-ended");
  return out;
}

}  // namespace

void hold_at_barrier(Value pod_template, const api::JobSet& set, std::int32_t attempt,
                     const BarrierProgram& program) {
  Arena& arena = pod_template.arena();
  const Value annotations = pod_template.object_at("metadata").object_at("annotations");
  annotations.set(annotation::kBarrier, barrier_config_map(set) + "/" + started_key(attempt));
  annotations.set(annotation::kBarrierSize, std::to_string(barrier_size(set)));
  if (const auto timeout = set.group_scheduling->timeout_after_seconds)
    annotations.set(annotation::kBarrierTimeout, std::to_string(*timeout));
  const Value pod = pod_template.object_at("spec");
  const Value container = container_of(arena, set, program);
  take_resources(container, pod.get("containers").item(0));
  pod.array_at("initContainers").push_back(container);
  pod.array_at("volumes").push_back(volume_of(arena, set, attempt));
}

}  // namespace muster::controllers::jobset
