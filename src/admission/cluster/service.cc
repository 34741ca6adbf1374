// The Service: defaults, its row, validation.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "admission/cluster/service_address.h"
#include "admission/kinds.h"
#include "admission/rules/checks.h"

namespace muster::admission {
namespace {

constexpr int kAffinitySeconds = 3 * 60 * 60;
constexpr int kLongestAffinitySeconds = 24 * 60 * 60;

void default_affinity(Value spec) {
  set_default(spec, "sessionAffinity", "None");
  const std::string_view affinity = text_of(spec, "sessionAffinity");
  if (affinity == "None") spec.erase("sessionAffinityConfig");
  if (affinity == "ClientIP")
    set_default(spec.object_at("sessionAffinityConfig").object_at("clientIP"), "timeoutSeconds",
                Value::of(kAffinitySeconds));
}

void default_service(const Context&, Value service) {
  const Value spec = service.object_at("spec");
  default_affinity(spec);
  set_default(spec, "type", "ClusterIP");
  const std::string_view type = text_of(spec, "type");
  for (const Value port : spec.get("ports").items()) {
    set_default(port, "protocol", "TCP");
    const Value target = port.get("targetPort");
    if (target.is_null() || (target.is_number() && target.as_int() == 0) ||
        (target.is_string() && target.as_string().empty()))
      port.set("targetPort", port.get("port"));
  }
  if (type == "NodePort" || type == "LoadBalancer") {
    set_default(spec, "externalTrafficPolicy", "Cluster");
    set_default(spec, "internalTrafficPolicy", "Cluster");
  }
  if (type == "ClusterIP") set_default(spec, "internalTrafficPolicy", "Cluster");
  if (type == "LoadBalancer") set_default(spec, "allocateLoadBalancerNodePorts", Value::of(true));
}

Status mutate_service(const Context& context, Value service, Value old) {
  if (!context.subresource.empty()) return {};
  return allocate_service_addresses(context, service, old);
}

void validate_ports(Value spec, const Path& path, FieldErrors& errors) {
  const Value ports = spec.get("ports");
  std::set<std::string_view> names;
  std::set<std::string> numbers;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Value port = ports.item(i);
    const Path entry = path.index(i);
    const std::string_view name = text_of(port, "name");
    if (name.empty()) {
      if (ports.size() > 1) errors.required(entry.child("name"));
    } else {
      add_faults(errors, entry.child("name"), name, api::check_dns1123_label(name));
      if (!names.insert(name).second) errors.duplicate(entry.child("name"), name);
    }
    validate_port(port.get("port"), entry.child("port"), errors);
    require_choice(port, "protocol", {"SCTP", "TCP", "UDP"}, entry, errors);
    validate_port(port.get("targetPort"), entry.child("targetPort"), errors);
    if (int_of(port, "nodePort") != 0 && text_of(spec, "type") == "ClusterIP")
      errors.forbidden(entry.child("nodePort"), "may not be used when `type` is 'ClusterIP'");
    const std::string key = fmt::format("{}/{}", text_of(port, "protocol"), int_of(port, "port"));
    if (!numbers.insert(key).second) errors.duplicate(entry, port);
  }
}

void validate_by_type(Value spec, const Path& path, FieldErrors& errors) {
  const std::string_view type = text_of(spec, "type");
  const bool headless = text_of(spec, "clusterIP") == "None";
  if (spec.get("ports").empty() && !headless && type != "ExternalName")
    errors.required(path.child("ports"));
  if (headless && (type == "LoadBalancer" || type == "NodePort"))
    errors.invalid(path.child("clusterIPs").index(0), "None",
                   fmt::format("may not be set to 'None' for {} services", type));
  if (type != "ExternalName") return;
  if (!text_of(spec, "clusterIP").empty())
    errors.forbidden(path.child("clusterIPs"), "may not be set for ExternalName services");
  const std::string_view name = text_of(spec, "externalName");
  if (require_text(spec, "externalName", path, errors))
    add_faults(
        errors, path.child("externalName"), name,
        api::check_dns1123_subdomain(name.ends_with('.') ? name.substr(0, name.size() - 1) : name));
}

void validate_affinity_time(Value spec, const Path& path, FieldErrors& errors) {
  const Value seconds = spec.get({"sessionAffinityConfig", "clientIP", "timeoutSeconds"});
  if (text_of(spec, "sessionAffinity") != "ClientIP") return;
  if (seconds.as_int() <= 0 || seconds.as_int() > kLongestAffinitySeconds)
    errors.invalid(path.child("sessionAffinityConfig").child("clientIP").child("timeoutSeconds"),
                   seconds,
                   fmt::format("must be greater than 0 and less than {}", kLongestAffinitySeconds));
}

// There is one range of addresses, of IPv4. A headless Service without a selector has no addresses
// of its own.
void validate_families(Value spec, const Path& path, FieldErrors& errors) {
  const bool selectorless = text_of(spec, "clusterIP") == "None" && spec.get("selector").empty();
  const Value families = spec.get("ipFamilies");
  for (std::size_t i = 0; i < families.size() && !selectorless; ++i) {
    constexpr std::string_view kFamilies[] = {"IPv4", "IPv6"};
    const std::string_view family = families.item(i).as_string();
    if (family == "IPv6")
      errors.invalid(path.child("ipFamilies").index(i), family, "not configured on this cluster");
    else if (family != "IPv4")
      errors.not_supported(path.child("ipFamilies").index(i), family, kFamilies);
  }
  if (text_of(spec, "ipFamilyPolicy") == "RequireDualStack" && !selectorless)
    errors.invalid(path.child("ipFamilyPolicy"), "RequireDualStack",
                   "this cluster is not configured for dual-stack services");
}

void validate_external_addresses(Value spec, const Path& path, FieldErrors& errors) {
  const Value addresses = spec.get("externalIPs");
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::string_view address = addresses.item(i).as_string();
    const Path at = path.child("externalIPs").index(i);
    if (!is_ip(address))
      errors.invalid(at, address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    else if (address.starts_with("127.") || address == "::1")
      errors.invalid(at, address, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
}

void validate_addresses(Value spec, const Path& path, FieldErrors& errors) {
  const Value addresses = spec.get("clusterIPs");
  for (std::size_t i = 0; i < addresses.size(); ++i)
    if (addresses.item(i).as_string() != "None" && !is_ip(addresses.item(i).as_string()))
      errors.invalid(path.child("clusterIPs").index(i), addresses.item(i),
                     "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  if (!addresses.empty() && text_of(spec, "clusterIP") != addresses.item(0).as_string())
    errors.invalid(path.child("clusterIPs"), addresses, "first value must match `clusterIP`");
}

void validate_service(const Context&, Value service, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = service.get("spec");
  validate_by_type(spec, path, errors);
  validate_ports(spec, path.child("ports"), errors);
  api::validate_labels(spec.get("selector"), path.child("selector"), errors);
  require_choice(spec, "sessionAffinity", {"ClientIP", "None"}, path, errors);
  validate_affinity_time(spec, path, errors);
  require_choice(spec, "type", {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}, path,
                 errors);
  validate_choice(spec, "internalTrafficPolicy", {"Cluster", "Local"}, path, errors);
  validate_choice(spec, "externalTrafficPolicy", {"Cluster", "Local"}, path, errors);
  const std::string_view type = text_of(spec, "type");
  if (has_value(spec, "externalTrafficPolicy") && type != "NodePort" && type != "LoadBalancer" &&
      spec.get("externalIPs").empty())
    errors.invalid(path.child("externalTrafficPolicy"), text_of(spec, "externalTrafficPolicy"),
                   "may only be set for externally-accessible services");
  validate_addresses(spec, path, errors);
  validate_families(spec, path, errors);
  validate_external_addresses(spec, path, errors);
}

// An address, once given, stays for the life of the Service.
void validate_service_update(const Context&, Value service, Value old, FieldErrors& errors) {
  const Value now = service.get({"spec", "clusterIPs"});
  const Value before = old.get({"spec", "clusterIPs"});
  if (text_of(service.get("spec"), "type") == "ExternalName" || before.empty()) return;
  constexpr std::size_t kFamilies = 2;  // as upstream; each fault repeats the whole list
  for (std::size_t i = 0; i < std::min({now.size(), before.size(), kFamilies}); ++i)
    if (!json::equal(now.item(i), before.item(i)))
      errors.invalid(Path("spec").child("clusterIPs").index(i), now, "may not change once set");
}

}  // namespace

constinit const Kind kService = {
    .group = "",
    .name = "Service",
    .name_rule = NameRule::kLabel,
    .trusts_metadata_on_update = true,
    .judges_changes_first = true,
    .apply_defaults = default_service,
    .mutate = mutate_service,
    .validate = validate_service,
    .validate_update = validate_service_update,
};

}  // namespace muster::admission
