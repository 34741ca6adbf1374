// EndpointSlice and Endpoints: where the pods of a Service are.
#include <set>

#include "admission/kinds.h"
#include "admission/rules/checks.h"

namespace muster::admission {
namespace {

constexpr int kMostEndpoints = 1000;
constexpr int kMostAddresses = 100;
constexpr int kMostPorts = 20000;

void default_slice(const Context&, Value slice) {
  for (const Value port : slice.get("ports").items()) {
    if (!has_value(port, "name")) port.set("name", Value::view(""));
    set_default(port, "protocol", "TCP");
  }
}

// Unlike upstream, loopback addresses are fine: the pods of a single machine live there.
void validate_address(std::string_view type, Value addresses, std::size_t index, const Path& path,
                      FieldErrors& errors) {
  const std::string_view text = addresses.item(index).as_string();
  if (type == "FQDN") {
    add_faults(errors, path.index(index), text, api::check_dns1123_subdomain(text));
  } else if (!is_ip(text)) {
    errors.invalid(path.index(index), text,
                   "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  } else if (is_ipv4(text) != (type == "IPv4")) {
    errors.invalid(path, text,
                   type == "IPv4" ? "must be an IPv4 address" : "must be an IPv6 address");
  }
}

void validate_slice_ports(Value ports, FieldErrors& errors) {
  if (ports.size() > kMostPorts) return errors.too_many(Path("ports"), ports.size(), kMostPorts);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Path path = Path("ports").index(i);
    const std::string_view name = text_of(ports.item(i), "name");
    if (!name.empty()) add_faults(errors, path.child("name"), name, api::check_dns1123_label(name));
    if (!names.insert(name).second) errors.duplicate(path.child("name"), name);
    require_choice(ports.item(i), "protocol", {"SCTP", "TCP", "UDP"}, path, errors);
  }
}

void validate_slice_endpoints(Value slice, FieldErrors& errors) {
  const Value endpoints = slice.get("endpoints");
  if (endpoints.size() > kMostEndpoints)
    return errors.too_many(Path("endpoints"), endpoints.size(), kMostEndpoints);
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const Path path = Path("endpoints").index(i);
    const Value addresses = endpoints.item(i).get("addresses");
    if (addresses.empty())
      errors.required(path.child("addresses"), "must contain at least 1 address");
    else if (addresses.size() > kMostAddresses)
      errors.too_many(path.child("addresses"), addresses.size(), kMostAddresses);
    for (std::size_t a = 0; a < addresses.size(); ++a)
      validate_address(text_of(slice, "addressType"), addresses, a, path.child("addresses"),
                       errors);
    if (const std::string_view host = text_of(endpoints.item(i), "hostname"); !host.empty())
      add_faults(errors, path.child("hostname"), host, api::check_dns1123_label(host));
  }
}

void validate_slice(const Context&, Value slice, FieldErrors& errors) {
  require_choice(slice, "addressType", {"FQDN", "IPv4", "IPv6"}, Path(), errors);
  validate_slice_ports(slice.get("ports"), errors);
  validate_slice_endpoints(slice, errors);
}

void validate_slice_update(const Context&, Value slice, Value old, FieldErrors& errors) {
  require_unchanged(slice, old, "addressType", Path(), errors);
}

bool labels_differ(Value object, Value old) {
  return !json::equal(object.get({"metadata", "labels"}), old.get({"metadata", "labels"}));
}

void default_endpoints(const Context& context, Value endpoints) {
  for (const Value subset : endpoints.get("subsets").items())
    for (const Value port : subset.get("ports").items()) set_default(port, "protocol", "TCP");
  if (context.warnings)
    context.warnings->emplace_back(
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice");
}

}  // namespace

constinit const Kind kEndpointSlice = {
    .group = "discovery.k8s.io",
    .name = "EndpointSlice",
    .apply_defaults = default_slice,
    .also_raises_generation = labels_differ,
    .validate = validate_slice,
    .validate_update = validate_slice_update,
};

constinit const Kind kEndpoints = {
    .group = "",
    .name = "Endpoints",
    .apply_defaults = default_endpoints,
};

}  // namespace muster::admission
