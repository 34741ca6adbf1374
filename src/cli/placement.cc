#include "cli/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal_text.h"

namespace muster::cli {
namespace {

using api::Quantity;
using json::Value;

constexpr std::string_view kInsufficient = "Insufficient ";
constexpr std::int64_t kMebi = std::int64_t{1} << 20, kGibi = std::int64_t{1} << 30;

Quantity amount_in(Value container, std::string_view resource) {
  const Value wanted = container.get({"resources", "requests", resource});
  const auto amount = Quantity::parse(wanted.is_string() ? std::string(wanted.as_string())
                                                         : std::to_string(wanted.as_int()));
  return amount ? *amount : Quantity();
}

// Init containers run one after the other, before the others.
Quantity amount_of(Value pod, std::string_view resource) {
  Quantity sum, most;
  for (const Value container : pod.get({"spec", "containers"}).items())
    sum += amount_in(container, resource);
  for (const Value container : pod.get({"spec", "initContainers"}).items())
    most = std::max(most, amount_in(container, resource));
  return std::max(sum, most);
}

std::string text_for(std::string_view resource, const Quantity& amount) {
  if (resource == "cpu") {
    const std::int64_t milli = amount.milli_value();
    return milli % 1000 == 0 ? std::to_string(milli / 1000) : fmt::format("{}m", milli);
  }
  const bool is_bytes = resource == "memory" || resource == "ephemeral-storage";
  const std::int64_t value = amount.value();
  if (!is_bytes) return std::to_string(value);
  if (value < kGibi) return fmt::format("{}Mi", value / kMebi);
  const double gibi = static_cast<double>(value) / static_cast<double>(kGibi);
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
  const auto most = room.most.find(asked.resource);
  if (most == room.most.end() || most->second.is_zero())
    return fmt::format("{}; {} none", wanted, offer_of(room));
  return fmt::format("{}; {} {}{}", wanted, offer_of(room), text_for(asked.resource, most->second),
                     asked.amount > most->second ? "" : ", which others use");
}

}  // namespace

std::string_view without_preemption(std::string_view message) {
  for (const std::string_view mark : {" no new claims to deallocate", " preemption:"})
    message = message.substr(0, message.find(mark));
  return message;
}

std::vector<Asked> lacking(Value pod, std::string_view message) {
  std::vector<Asked> out;
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
    out.push_back({std::string(part), amount_of(pod, part)});
  }
  return out;
}

Room room_on(Value node_list) {
  Room room;
  for (const Value node : node_list.get("items").items()) {
    ++room.nodes;
    for (const json::Member& member : node.get({"status", "allocatable"}).members()) {
      const auto amount = Quantity::parse(member.value.as_string());
      if (!amount) continue;
      Quantity& most = room.most[std::string(member.key)];
      most = std::max(most, *amount);
    }
  }
  return room;
}

std::string shortage(const std::vector<Asked>& asked, const Room& room) {
  std::vector<std::string> texts;
  for (const Asked& each : asked) texts.push_back(shortage_of(each, room));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace muster::cli
