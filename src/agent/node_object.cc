#include "agent/node_object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "api/schema/version.h"
#include "api/views/conditions.h"

namespace muster::agent {
namespace {

using json::Value;

class Conditions {
 public:
  Conditions(json::Arena& arena, Value before, Time now)
      : arena_(arena), before_(before), now_(format_time(now)) {}

  void add(std::string_view type, bool holds, std::string_view reason, std::string_view message) {
    const std::string_view status = holds ? "True" : "False";
    Value out = Value::object(arena_);
    out.set("type", type);
    out.set("status", status);
    out.set("lastHeartbeatTime", now_);
    out.set("lastTransitionTime", since(type, status));
    out.set("reason", reason);
    out.set("message", message);
    list_.push_back(out);
  }
  Value list() const { return list_; }

 private:
  std::string since(std::string_view type, std::string_view status) const {
    const Value old = api::condition_of(before_, type);
    const bool changed = old.get("status").as_string() != status;
    return changed ? now_ : std::string(old.get("lastTransitionTime").as_string());
  }

  json::Arena& arena_;
  Value before_;
  std::string now_;
  Value list_ = Value::array(arena_);
};

// What this machine does not let us do, in one condition that people and tools can read.
void add_abilities(Conditions& conditions, std::span<const runtime::Ability> abilities) {
  std::vector<std::string> missing, present;
  for (const runtime::Ability& ability : abilities) {
    if (ability.available) {
      present.push_back(ability.name);
    } else {
      missing.push_back(fmt::format("{} ({})", ability.name, ability.detail));
    }
  }
  if (missing.empty()) {
    conditions.add("muster.dev/Isolation", true, "AllAvailable",
                   fmt::format("{}", fmt::join(present, ", ")));
  } else {
    conditions.add("muster.dev/Isolation", false, "SomeMissing",
                   fmt::format("not available: {}", fmt::join(missing, "; ")));
  }
}

void add_address(Value status, std::string_view type, std::string_view address) {
  const Value entry = Value::object(status.arena());
  entry.set("type", type);
  entry.set("address", address);
  status.array_at("addresses").push_back(entry);
}

void write_node_info(Value info, const MachineFacts& facts) {
  info.set("architecture", facts.architecture);
  info.set("bootID", facts.boot_id);
  info.set("containerRuntimeVersion", "muster://" MUSTER_VERSION);
  info.set("kernelVersion", facts.kernel);
  info.set("kubeProxyVersion", "");
  info.set("kubeletVersion", api::kGitVersion);
  info.set("machineID", facts.machine_id);
  info.set("operatingSystem", "linux");
  info.set("osImage", facts.os_image);
  info.set("systemUUID", facts.machine_id);
}

}  // namespace

std::vector<NodeShare> share_out(const MachineFacts& facts, const NodeOptions& options) {
  const int count = std::max(1, options.count);
  const std::size_t gpus_each = facts.gpus.size() / static_cast<std::size_t>(count);
  std::vector<NodeShare> shares;
  for (int i = 0; i < count; ++i) {
    NodeShare share;
    share.name = options.count == 0 ? facts.hostname : fmt::format("node-{}", i);
    share.labels = options.labels;
    for (const auto* os : {"kubernetes.io/os", "beta.kubernetes.io/os"}) share.labels[os] = "linux";
    for (const auto* arch : {"kubernetes.io/arch", "beta.kubernetes.io/arch"})
      share.labels[arch] = facts.architecture;
    share.labels["kubernetes.io/hostname"] = share.name;
    const auto first = static_cast<std::ptrdiff_t>(gpus_each) * i;
    share.gpus.assign(facts.gpus.begin() + first,
                      facts.gpus.begin() + first + static_cast<std::ptrdiff_t>(gpus_each));
    share.resources = options.extra_resources;
    share.resources["cpu"] = facts.cpu_millis / count;
    share.resources["memory"] = facts.memory_bytes / count;
    share.resources["ephemeral-storage"] = facts.disk_bytes / count;
    share.resources["pods"] = options.max_pods > 0 ? options.max_pods : kMaxPods;
    // Those that are declared count where there are no real ones: for trying out.
    if (!share.gpus.empty())
      share.resources[std::string(kGpuResource)] = static_cast<std::int64_t>(gpus_each);
    shares.push_back(std::move(share));
  }
  return shares;
}

Value write_resources(json::Arena& arena, const std::map<std::string, std::int64_t>& resources) {
  Value out = Value::object(arena);
  for (const auto& [name, amount] : resources) {
    if (name == "cpu") {
      out.set(name,
              amount % 1000 == 0 ? fmt::format("{}", amount / 1000) : fmt::format("{}m", amount));
    } else if (name == "memory" || name == "ephemeral-storage") {
      out.set(name, fmt::format("{}Ki", amount / 1024));
    } else {
      out.set(name, fmt::format("{}", amount));
    }
  }
  return out;
}

Value write_node(json::Arena& arena, const NodeShare& share) {
  Value node = Value::object(arena);
  node.set("apiVersion", "v1");
  node.set("kind", "Node");
  const Value metadata = node.object_at("metadata");
  metadata.set("name", share.name);
  for (const auto& [key, value] : share.labels) metadata.object_at("labels").set(key, value);
  metadata.object_at("annotations")
      .set("volumes.kubernetes.io/controller-managed-attach-detach", "true");
  return node;
}

Value write_node_status(json::Arena& arena, const NodeShare& share, const MachineFacts& facts,
                        std::span<const runtime::Ability> abilities, Value before, Time now) {
  Value status = Value::object(arena);
  add_address(status, "InternalIP", facts.address);
  add_address(status, "Hostname", share.name);
  status.set("allocatable", write_resources(arena, share.resources));
  status.set("capacity", write_resources(arena, share.resources));
  Conditions conditions(arena, before.get("conditions"), now);
  conditions.add("MemoryPressure", false, "KubeletHasSufficientMemory",
                 "kubelet has sufficient memory available");
  conditions.add("DiskPressure", false, "KubeletHasNoDiskPressure", "kubelet has no disk pressure");
  conditions.add("PIDPressure", false, "KubeletHasSufficientPID",
                 "kubelet has sufficient PID available");
  add_abilities(conditions, abilities);
  conditions.add("Ready", true, "KubeletReady", "kubelet is posting ready status");
  status.set("conditions", conditions.list());
  write_node_info(status.object_at("nodeInfo"), facts);
  return status;
}

}  // namespace muster::agent
