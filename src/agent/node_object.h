// The Node objects that stand for this machine, and the share of it that each has (pod-lifecycle
// 8.1). Pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "agent/machine_facts.h"
#include "base/time.h"
#include "json/value.h"
#include "runtime/runtime.h"

namespace muster::agent {

struct NodeOptions {
  int count = 0;     // 0: one, named like the machine; else node-0 … node-<count - 1>
  int max_pods = 0;  // of each; 0: kMaxPods
  std::map<std::string, std::string> labels;            // of each
  std::map<std::string, std::int64_t> extra_resources;  // of each: example.com/widget: 4
};

// Processes are cheap, but not free.
inline constexpr int kMaxPods = 1000;

struct NodeShare {
  std::string name;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::int64_t> resources;  // cpu in thousandths, the rest in units
  std::vector<std::string> gpus;
};

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";

std::vector<NodeShare> share_out(const MachineFacts& facts, const NodeOptions& options);

json::Value write_node(json::Arena& arena, const NodeShare& share);

// `before` is what the API has: times of conditions that did not change stay.
json::Value write_node_status(json::Arena& arena, const NodeShare& share, const MachineFacts& facts,
                              std::span<const runtime::Ability> abilities, json::Value before,
                              Time now);

// capacity, as resourceFieldRef and status have it.
json::Value write_resources(json::Arena& arena,
                            const std::map<std::string, std::int64_t>& resources);

}  // namespace muster::agent
