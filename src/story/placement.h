// Why a pod is placed nowhere, in amounts: what it asks for and what there is. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/views/pod_resources.h"
#include "json/value.h"

namespace muster::story {

struct Asked {
  std::string resource;
  std::int64_t amount = 0;  // of cpu in thousandths
};

// What the pod asks for of resources that are too short, by the scheduler's message. Empty if that
// has other reasons, too.
std::vector<Asked> lacking(json::Value pod, std::string_view message);

// The message without what it says of claims and preemption.
std::string_view without_preemption(std::string_view message);

// What nodes offer.
struct Room {
  std::size_t nodes = 0;       // 0: unknown
  api::ComputeResources most;  // of one node, each by itself
  bool is_here = false;        // they are this machine
};
Room room_on(json::Value node_list);

// "asks for 100 cpu; this machine has 2".
std::string shortage(const std::vector<Asked>& asked, const Room& room);

}  // namespace muster::story
