#include "admission/cluster/service_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <optional>
#include <set>

#include "admission/rules/checks.h"
#include "admission/rules/lookup.h"
#include "base/stable_hash.h"

namespace muster::admission {
namespace {

constexpr std::string_view kServiceRange = "10.96.0.0/16";
constexpr std::uint32_t kFirstAddress = 10U << 24 | 96U << 16;
constexpr std::uint32_t kAddressCount = 1U << 16;
// The first addresses are left to those who ask for one by number.
constexpr std::uint32_t kStaticBand = 256;
constexpr std::int64_t kFirstNodePort = 30000;
constexpr std::int64_t kNodePortCount = 2768;

// What the other Services have.
struct Taken {
  std::set<std::uint32_t> addresses;
  std::set<std::int64_t> node_ports;
};

std::optional<std::uint32_t> parse_address(std::string_view text) {
  in_addr address;
  if (inet_pton(AF_INET, std::string(text).c_str(), &address) != 1) return {};
  return ntohl(address.s_addr);
}

std::string address_text(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 0xFF, address >> 8 & 0xFF,
                     address & 0xFF);
}

Taken taken_by_others(const Context& context, Value service) {
  Taken taken;
  const std::string_view own = text_of(service.get("metadata"), "name");
  for (const Value other :
       list_objects(context, service.arena(), {.group = "", .plural = "services"})) {
    const Value metadata = other.get("metadata");
    if (text_of(metadata, "name") == own && text_of(metadata, "namespace") == context.ns) continue;
    if (const auto address = parse_address(text_of(other.get("spec"), "clusterIP")))
      taken.addresses.insert(*address);
    for (const Value port : other.get({"spec", "ports"}).items())
      if (const std::int64_t number = int_of(port, "nodePort")) taken.node_ports.insert(number);
  }
  return taken;
}

std::unexpected<Error> fail_at(const Context& context, const Path& path, Value value,
                               std::string_view detail) {
  FieldErrors errors;
  errors.invalid(path, value, detail);
  return std::unexpected(errors.to_error(*context.resource, context.name));
}

std::uint64_t start_of_search(const Context& context, std::string_view what) {
  return stable_hash(fmt::format("{}/{}/{}", context.ns, context.name, what));
}

// Network and broadcast address are nobody's.
std::optional<std::uint32_t> free_address(const Context& context, const Taken& taken) {
  const auto search = [&](std::uint32_t first, std::uint32_t end) -> std::optional<std::uint32_t> {
    const std::uint64_t start = start_of_search(context, "clusterIP");
    for (std::uint32_t i = 0; i < end - first; ++i) {
      const auto offset = static_cast<std::uint32_t>((start + i) % (end - first));
      const std::uint32_t address = kFirstAddress + first + offset;
      if (!taken.addresses.contains(address)) return address;
    }
    return {};
  };
  if (const auto found = search(kStaticBand + 1, kAddressCount - 1)) return found;
  return search(1, kStaticBand + 1);
}

Status check_wished_address(const Context& context, Value spec, const Taken& taken) {
  const std::string_view wish = text_of(spec, "clusterIP");
  const auto address = parse_address(wish);
  if (!address) return {};  // validation will say so
  const Path path = Path("spec").child("clusterIPs");
  if (*address <= kFirstAddress || *address >= kFirstAddress + kAddressCount - 1)
    return fail_at(context, path, spec.get("clusterIPs"),
                   fmt::format("failed to allocate IP {}: the provided IP ({}) is not in the valid "
                               "range. The range of valid IPs is {}",
                               wish, wish, kServiceRange));
  if (taken.addresses.contains(*address))
    return fail_at(context, path, spec.get("clusterIPs"),
                   fmt::format("failed to allocate IP {}: provided IP is already allocated", wish));
  return {};
}

void set_addresses(Value spec, std::string_view address) {
  spec.set("clusterIP", address);
  const Value list = Value::array(spec.arena());
  list.push_back(spec.get("clusterIP"));
  spec.set("clusterIPs", list);
}

// One family: there is one range, of IPv4.
void set_families(Value spec) {
  if (spec.get("ipFamilies").empty()) {
    const Value families = Value::array(spec.arena());
    families.push_back(Value::view("IPv4"));
    spec.set("ipFamilies", families);
  }
  const bool selectorless = text_of(spec, "clusterIP") == "None" && spec.get("selector").empty();
  if (selectorless && !has_value(spec, "ipFamilyPolicy")) {
    // Nobody knows of which family the endpoints will be.
    spec.set("ipFamilyPolicy", Value::view("RequireDualStack"));
    if (spec.get("ipFamilies").size() == 1) spec.get("ipFamilies").push_back(Value::view("IPv6"));
  }
  set_default(spec, "ipFamilyPolicy", "SingleStack");
}

void drop_addresses(Value spec) {
  for (const std::string_view key :
       {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"})
    spec.erase(key);
}

// What a client left out, or changed in one of the two fields that say the same.
void inherit_addresses(Value spec, Value old) {
  const std::string_view now = text_of(spec, "clusterIP");
  const std::string_view before = text_of(old, "clusterIP");
  if (now.empty() && !before.empty()) {
    take_member(spec, old, "clusterIP");
    take_member(spec, old, "clusterIPs");
  } else if (now != before && json::equal(spec.get("clusterIPs"), old.get("clusterIPs"))) {
    if (!now.empty()) set_addresses(spec, std::string(now));
  }
  for (const std::string_view key : {"ipFamilies", "ipFamilyPolicy"})
    if (!has_value(spec, key)) take_member(spec, old, key);
}

bool uses_node_ports(Value spec) {
  const std::string_view type = text_of(spec, "type");
  if (type == "NodePort") return true;
  const Value wish = spec.get("allocateLoadBalancerNodePorts");
  return type == "LoadBalancer" && (wish.is_null() || wish.as_bool());
}

void inherit_node_ports(Value spec, Value old) {
  for (const Value port : spec.get("ports").items()) {
    if (int_of(port, "nodePort") != 0) continue;
    for (const Value before : old.get("ports").items())
      if (int_of(before, "port") == int_of(port, "port") &&
          text_of(before, "protocol") == text_of(port, "protocol"))
        take_member(port, before, "nodePort");
  }
}

Status allocate_node_ports(const Context& context, Value spec, Taken& taken) {
  const Value ports = spec.get("ports");
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Value port = ports.item(i);
    if (int_of(port, "nodePort") != 0) continue;
    const std::uint64_t start =
        start_of_search(context, fmt::format("nodePort/{}", int_of(port, "port")));
    std::int64_t chosen = 0;
    for (std::int64_t step = 0; step < kNodePortCount && chosen == 0; ++step) {
      const std::int64_t candidate =
          kFirstNodePort +
          static_cast<std::int64_t>((start + static_cast<std::uint64_t>(step)) % kNodePortCount);
      if (taken.node_ports.insert(candidate).second) chosen = candidate;
    }
    if (chosen == 0)
      return fail_at(context, Path("spec").child("ports").index(i).child("nodePort"), Value::of(0),
                     "failed to allocate a nodePort: range is full");
    port.set("nodePort", Value::of(chosen));
  }
  return {};
}

Status allocate_address(const Context& context, Value spec, Value old, const Taken& taken) {
  const std::string_view wish = text_of(spec, "clusterIP");
  if (wish.empty()) {
    const auto address = free_address(context, taken);
    if (!address)
      return fail_at(context, Path("spec").child("clusterIPs"), Value::array(spec.arena()),
                     "failed to allocate IP: range is full");
    // A dry run takes nothing, and shows where the range starts.
    set_addresses(spec, address_text(context.dry_run ? kFirstAddress : *address));
  } else {
    if (spec.get("clusterIPs").empty()) set_addresses(spec, std::string(wish));
    if (wish != "None" && text_of(old, "clusterIP").empty())
      MUSTER_CHECK(check_wished_address(context, spec, taken));
  }
  set_families(spec);
  return {};
}

bool needs_allocation(Value spec, Value old) {
  const std::string_view address = text_of(spec, "clusterIP");
  if (address.empty() || (address != "None" && text_of(old, "clusterIP").empty())) return true;
  if (!uses_node_ports(spec)) return false;
  for (const Value port : spec.get("ports").items())
    if (int_of(port, "nodePort") == 0) return true;
  return false;
}

}  // namespace

Status allocate_service_addresses(const Context& context, Value service, Value old) {
  const Value spec = service.get("spec");
  if (!spec.is_object()) return {};
  const Value before = old.get("spec");
  if (text_of(spec, "type") == "ExternalName") {
    if (text_of(before, "type") != "ExternalName" && before.is_object()) drop_addresses(spec);
    return {};
  }
  inherit_addresses(spec, before);
  if (uses_node_ports(spec)) inherit_node_ports(spec, before);
  // Nobody's addresses matter to a headless Service, of which there is one for each JobSet.
  Taken taken;
  if (needs_allocation(spec, before)) taken = taken_by_others(context, service);
  MUSTER_CHECK(allocate_address(context, spec, before, taken));
  return uses_node_ports(spec) ? allocate_node_ports(context, spec, taken) : Status();
}

}  // namespace muster::admission
