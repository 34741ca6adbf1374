#include "agent/inputs/downward.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/values/field_error.h"
#include "api/values/quantity.h"

namespace muster::agent {
namespace {

using api::Quantity;
using json::Value;

// key="value" per line, sorted, without a last line feed.
std::string lines_of(Value map) {
  Variables sorted;
  for (const auto& [key, value] : map.members()) sorted.emplace(key, value.as_string());
  std::string out;
  for (const auto& [key, value] : sorted) {
    if (!out.empty()) out += '\n';
    out += fmt::format("{}={}", key, api::quote(std::string_view(value)));
  }
  return out;
}

std::string addresses_of(Value list, std::string_view known) {
  std::string out(known);
  for (const Value item : list.items()) {
    const std::string_view address = item.get("ip").as_string();
    if (address == known || address.empty()) continue;
    if (!out.empty()) out += ',';
    out += address;
  }
  return out;
}

std::string known_or(const std::string& known, Value written) {
  return known.empty() ? std::string(written.as_string()) : known;
}

Result<std::string> subscripted(Value metadata, std::string_view path, std::size_t bracket) {
  const std::string_view map = path.substr(0, bracket);
  const std::string_view key = path.substr(bracket + 2, path.size() - bracket - 4);
  if (map == "metadata.labels") return std::string(metadata.get("labels").get(key).as_string());
  if (map == "metadata.annotations")
    return std::string(metadata.get("annotations").get(key).as_string());
  return fail(Code::kInvalid,
              fmt::format("fieldPath {} does not support subscript", api::quote(path)));
}

// What is absent or no quantity counts as nothing: admission has checked what is there.
Quantity quantity_of(Value value) {
  if (value.is_null()) return {};
  return Quantity::read(value).value_or(Quantity());
}

Value container_named(Value pod, std::string_view name) {
  for (const std::string_view list : {"containers", "initContainers", "ephemeralContainers"}) {
    for (const Value container : pod.get({"spec", list}).items()) {
      if (container.get("name").as_string() == name) return container;
    }
  }
  return {};
}

// A container without a limit may take what the pod may, and that is all of the node's without one.
Quantity limit_of(Value pod, Value container, std::string_view resource, const PodFacts& facts) {
  constexpr std::array<std::string_view, 3> kShared = {"cpu", "memory", "ephemeral-storage"};
  const Quantity own = quantity_of(container.get({"resources", "limits", resource}));
  if (!own.is_zero() || std::ranges::find(kShared, resource) == kShared.end()) return own;
  const Quantity pods = quantity_of(pod.get({"spec", "resources", "limits", resource}));
  return pods.is_zero() ? quantity_of(facts.node_allocatable.get(resource)) : pods;
}

// Rounded up. Milli-units count for processors only: 100m of them in units of 1m are 100.
std::int64_t in_units_of(const Quantity& amount, const Quantity& unit, bool milli) {
  const std::int64_t whole = milli ? amount.milli_value() : amount.value();
  const std::int64_t part = std::max<std::int64_t>(milli ? unit.milli_value() : unit.value(), 1);
  return whole / part + (whole % part > 0 ? 1 : 0);
}

bool may_be_asked_for(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

}  // namespace

Result<std::string> field_value(Value pod, std::string_view path, const PodFacts& facts) {
  const Value metadata = pod.get("metadata");
  const Value status = pod.get("status");
  const std::size_t bracket = path.find("['");
  if (path.ends_with("']") && bracket != std::string_view::npos && bracket > 0)
    return subscripted(metadata, path, bracket);
  if (path == "metadata.name" || path == "metadata.namespace" || path == "metadata.uid")
    return std::string(metadata.get(path.substr(path.find('.') + 1)).as_string());
  if (path == "metadata.labels") return lines_of(metadata.get("labels"));
  if (path == "metadata.annotations") return lines_of(metadata.get("annotations"));
  if (path == "spec.nodeName") return known_or(facts.node_name, pod.get({"spec", "nodeName"}));
  if (path == "spec.serviceAccountName")
    return std::string(pod.get({"spec", "serviceAccountName"}).as_string());
  if (path == "status.hostIP") return known_or(facts.host_ip, status.get("hostIP"));
  if (path == "status.hostIPs") return addresses_of(status.get("hostIPs"), facts.host_ip);
  if (path == "status.podIP") return known_or(facts.pod_ip, status.get("podIP"));
  if (path == "status.podIPs") return addresses_of(status.get("podIPs"), facts.pod_ip);
  return fail(Code::kInvalid, fmt::format("unsupported fieldPath: {}", path));
}

Result<std::string> resource_value(Value pod, Value container, Value reference,
                                   const PodFacts& facts) {
  const std::string_view name = reference.get("containerName").as_string();
  if (!name.empty()) container = container_named(pod, name);
  if (container.is_null()) return fail(Code::kInvalid, fmt::format("container {} not found", name));
  const std::string_view path = reference.get("resource").as_string();
  const bool is_limit = path.starts_with("limits.");
  const std::size_t dot = path.find('.');
  const std::string_view resource = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  if ((!is_limit && !path.starts_with("requests.")) || !may_be_asked_for(resource))
    return fail(Code::kInvalid, fmt::format("unsupported container resource : {}", path));
  const Quantity amount = is_limit
                              ? limit_of(pod, container, resource, facts)
                              : quantity_of(container.get({"resources", "requests", resource}));
  Quantity unit = quantity_of(reference.get("divisor"));
  if (unit.is_zero()) unit = Quantity::of(1);
  return std::to_string(in_units_of(amount, unit, resource == "cpu"));
}

}  // namespace muster::agent
