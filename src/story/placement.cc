#include "story/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/terminal_text.h"

namespace muster::story {
namespace {

using api::ComputeResources;
using json::Value;

constexpr std::string_view kInsufficient = "Insufficient ";
constexpr std::int64_t kMebi = std::int64_t{1} << 20, kGibi = std::int64_t{1} << 30;

std::int64_t amount_of(const ComputeResources& resources, std::string_view name) {
  if (name == "cpu") return resources.milli_cpu;
  if (name == "memory") return resources.memory;
  if (name == "ephemeral-storage") return resources.ephemeral_storage;
  return resources.other(name);
}

std::string text_for(std::string_view resource, std::int64_t amount) {
  if (resource == "cpu")
    return amount % 1000 == 0 ? std::to_string(amount / 1000) : fmt::format("{}m", amount);
  const bool is_bytes = resource == "memory" || resource == "ephemeral-storage";
  if (!is_bytes) return std::to_string(amount);
  if (amount < kGibi) return fmt::format("{}Mi", amount / kMebi);
  const double gibi = static_cast<double>(amount) / static_cast<double>(kGibi);
  return fmt::format("{}Gi", std::round(gibi * 10) / 10);
}

std::string offer_of(const Room& room) {
  if (room.nodes > 1) return fmt::format("the largest of {} nodes has", room.nodes);
  return room.is_here ? "this machine has" : "the node has";
}

std::string shortage_of(const Asked& asked, const Room& room) {
  const std::string wanted = fmt::format("asks for {} {}", text_for(asked.resource, asked.amount),
                                         plain_text(asked.resource));
  if (room.nodes == 0) return wanted + ", more than there is";
  const std::int64_t most = amount_of(room.most, asked.resource);
  if (most == 0) return fmt::format("{}; {} none", wanted, offer_of(room));
  return fmt::format("{}; {} {}{}", wanted, offer_of(room), text_for(asked.resource, most),
                     asked.amount > most ? "" : ", which others use");
}

}  // namespace

std::string_view without_preemption(std::string_view message) {
  for (const std::string_view mark : {" no new claims to deallocate", " preemption:"})
    message = message.substr(0, message.find(mark));
  return message;
}

std::vector<Asked> lacking(Value pod, std::string_view message) {
  std::vector<Asked> out;
  const ComputeResources requests = api::pod_requests(pod.get("spec"));
  message = without_preemption(message);
  const std::size_t colon = message.find(": ");
  if (colon == message.npos) return out;
  message.remove_prefix(colon + 2);
  if (message.ends_with('.')) message.remove_suffix(1);
  while (!message.empty()) {
    std::string_view part = message.substr(0, message.find(", "));
    message.remove_prefix(std::min(message.size(), part.size() + 2));
    const std::size_t at = part.find(kInsufficient);
    if (at == part.npos) return {};
    part.remove_prefix(at + kInsufficient.size());
    out.push_back({std::string(part), amount_of(requests, part)});
  }
  return out;
}

Room room_on(Value node_list) {
  Room room;
  for (const Value node : node_list.get("items").items()) {
    ++room.nodes;
    room.most.raise_to(api::read_compute_resources(node.get({"status", "allocatable"})));
  }
  return room;
}

std::string shortage(const std::vector<Asked>& asked, const Room& room) {
  std::vector<std::string> texts;
  for (const Asked& each : asked) texts.push_back(shortage_of(each, room));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace muster::story
