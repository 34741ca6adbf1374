// Rows of the kinds that make up a cluster: nodes, services, volumes, configuration, events.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "api/tables/columns_kinds.h"
#include "api/views/conditions.h"
#include "base/ascii.h"

namespace muster::api {
namespace {

using json::Value;

constexpr std::size_t kShownEndpoints = 3;

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ","));
}

std::string node_status(const Row& row) {
  const Value ready = find_condition(row.object(), "Ready");
  std::string status = "Unknown";
  if (!ready.is_null()) status = ready.get("status").as_string() == "True" ? "Ready" : "NotReady";
  if (row.get({"spec", "unschedulable"}).as_bool()) status += ",SchedulingDisabled";
  return status;
}

std::string node_roles(Value labels) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string_view> roles;
  for (const json::Member& label : labels.members()) {
    if (label.key.starts_with(kPrefix)) roles.insert(label.key.substr(kPrefix.size()));
    if (label.key == "kubernetes.io/role") roles.insert(label.value.as_string());
  }
  roles.erase("");
  return fmt::format("{}", fmt::join(roles, ","));
}

std::string_view node_address(Value addresses, std::string_view type) {
  for (const Value address : addresses.items()) {
    if (address.get("type").as_string() == type) return address.get("address").as_string();
  }
  return kNone;
}

std::vector<std::string> load_balancer_addresses(Value ingress) {
  std::set<std::string> addresses;
  for (const Value entry : ingress.items()) {
    const auto ip = entry.get("ip").as_string();
    addresses.emplace(ip.empty() ? entry.get("hostname").as_string() : ip);
  }
  addresses.erase("");
  return {addresses.begin(), addresses.end()};
}

std::string external_address(const Row& row) {
  const auto type = row.text_of({"spec", "type"});
  if (type == "ExternalName") return std::string(row.text_of({"spec", "externalName"}));
  std::vector<std::string> addresses;
  if (type == "LoadBalancer") {
    addresses = load_balancer_addresses(row.get({"status", "loadBalancer", "ingress"}));
  } else if (type != "ClusterIP" && type != "NodePort") {
    return std::string(kUnknownCell);
  }
  for (const Value ip : row.get({"spec", "externalIPs"}).items())
    addresses.emplace_back(ip.as_string());
  if (!addresses.empty()) return joined(addresses);
  return std::string(type == "LoadBalancer" ? "<pending>" : kNone);
}

std::string service_ports(Value ports) {
  std::vector<std::string> texts;
  for (const Value port : ports.items()) {
    const auto node_port = port.get("nodePort").as_int();
    texts.push_back(fmt::format("{}{}/{}", port.get("port").as_int(),
                                node_port > 0 ? fmt::format(":{}", node_port) : "",
                                port.get("protocol").as_string()));
  }
  return joined(texts);
}

struct AccessMode {
  std::string_view name;
  std::string_view abbreviation;
};
constexpr std::array<AccessMode, 4> kAccessModes{{{"ReadWriteOnce", "RWO"},
                                                  {"ReadOnlyMany", "ROX"},
                                                  {"ReadWriteMany", "RWX"},
                                                  {"ReadWriteOncePod", "RWOP"}}};

std::string access_modes(Value modes) {
  std::vector<std::string> texts;
  for (const AccessMode& mode : kAccessModes) {
    const auto is_mode = [&](Value value) { return value.as_string() == mode.name; };
    if (std::ranges::any_of(modes.items(), is_mode)) texts.emplace_back(mode.abbreviation);
  }
  return joined(texts);
}

std::string_view storage_class(const Row& row) {
  // The annotation is older than the field and wins.
  const Value annotated =
      row.get({"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"});
  return annotated.is_null() ? row.text_of({"spec", "storageClassName"}) : annotated.as_string();
}

std::string_view phase_of(const Row& row) {
  return row.is_deleted() ? "Terminating" : row.text_of({"status", "phase"});
}

// events.k8s.io calls the same things by other names.
Value either(Value event, std::string_view name, std::string_view new_name) {
  const Value value = event.get(name);
  return value.is_null() ? event.get(new_name) : value;
}

std::string event_source(Value event) {
  const Value source = either(event, "source", "deprecatedSource");
  auto component = source.get("component").as_string();
  auto host = source.get("host").as_string();
  if (component.empty())
    component = either(event, "reportingComponent", "reportingController").as_string();
  if (host.empty()) host = event.get("reportingInstance").as_string();
  return host.empty() ? std::string(component) : fmt::format("{}, {}", component, host);
}

std::string event_object(Value object) {
  const std::string text = lower_case(object.get("kind").as_string());
  const auto name = object.get("name").as_string();
  return name.empty() ? text : fmt::format("{}/{}", text, name);
}

std::string_view without_blanks_around(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

}  // namespace

void name_and_age_row(Row& row) {
  row.name();
  row.age();
}

void name_and_creation_row(Row& row) {
  row.name();
  row.created_at();
}

void component_status_row(Row& row) {
  Value healthy;
  for (const Value condition : row.get({"conditions"}).items()) {
    if (healthy.is_null() && condition.get("type").as_string() == "Healthy") healthy = condition;
  }
  row.name();
  row.text(healthy.is_null()                             ? "Unknown"
           : healthy.get("status").as_string() == "True" ? "Healthy"
                                                         : "Unhealthy");
  row.text(healthy.get("message").as_string());
  row.text(healthy.get("error").as_string());
}

void config_map_row(Row& row) {
  row.name();
  row.number(static_cast<std::int64_t>(row.get({"data"}).size() + row.get({"binaryData"}).size()));
  row.age();
}

void endpoints_row(Row& row) {
  std::vector<std::string> endpoints;
  for (const Value subset : row.get({"subsets"}).items()) {
    const auto addresses = subset.get("addresses").items();
    for (const Value port : subset.get("ports").items()) {
      for (const Value address : addresses) {
        const auto ip = address.get("ip").as_string();
        const bool v6 = ip.find(':') != std::string_view::npos;
        endpoints.push_back(
            fmt::format("{}{}{}:{}", v6 ? "[" : "", ip, v6 ? "]" : "", port.get("port").as_int()));
      }
    }
    if (!subset.get("ports").empty()) continue;
    for (const Value address : addresses) endpoints.emplace_back(address.get("ip").as_string());
  }
  row.name();
  row.text(shortened_list(endpoints, kShownEndpoints, row.get({"subsets"}).empty() ? kNone : ""));
  row.age();
}

void endpoint_slice_row(Row& row) {
  std::vector<std::string> ports;
  for (const Value port : row.get({"ports"}).items()) {
    const Value name = port.get("name");
    ports.push_back(port.has("port") ? scalar_text(port.get("port"))
                    : name.is_null() ? "*"
                                     : scalar_text(name));
  }
  std::vector<std::string> addresses;
  for (const Value endpoint : row.get({"endpoints"}).items()) {
    for (const Value address : endpoint.get("addresses").items())
      addresses.emplace_back(address.as_string());
  }
  row.name();
  row.text(row.text_of({"addressType"}));
  row.text(shortened_list(ports, kShownEndpoints, kUnset));
  row.text(shortened_list(addresses, kShownEndpoints, kUnset));
  row.age();
}

void event_row(Row& row) {
  const Value event = row.object();
  const Value involved = either(event, "involvedObject", "regarding");
  const Value first_time = either(event, "firstTimestamp", "deprecatedFirstTimestamp");
  const std::string first_seen =
      row.since(first_time.is_null() ? event.get("eventTime") : first_time);
  const Value last_time = either(event, "lastTimestamp", "deprecatedLastTimestamp");
  std::string last_seen = last_time.is_null() ? first_seen : row.since(last_time);
  std::int64_t count =
      std::max<std::int64_t>(either(event, "count", "deprecatedCount").as_int(), 1);
  if (const Value series = event.get("series"); !series.is_null()) {
    last_seen = row.since(series.get("lastObservedTime"));
    count = series.get("count").as_int();
  }
  row.text(last_seen);
  row.text(row.text_of({"type"}));
  row.text(row.text_of({"reason"}));
  row.text(event_object(involved));
  row.text(involved.get("fieldPath").as_string());
  row.text(event_source(event));
  row.text(without_blanks_around(either(event, "message", "note").as_string()));
  row.text(first_seen);
  row.number(count);
  row.name();
}

void namespace_row(Row& row) {
  row.name();
  row.text(row.text_of({"status", "phase"}));
  row.age();
}

void node_row(Row& row) {
  const Value info = row.get({"status", "nodeInfo"});
  const Value addresses = row.get({"status", "addresses"});
  std::string kernel(info.get("kernelVersion").as_string());
  if (kernel.empty()) kernel = kUnknownCell;
  if (const auto arch = info.get("architecture").as_string(); !arch.empty())
    kernel += fmt::format(" ({})", arch);
  row.name();
  row.text(node_status(row));
  row.text(node_roles(row.get({"metadata", "labels"})), kNone);
  row.age();
  row.text(info.get("kubeletVersion").as_string());
  row.text(node_address(addresses, "InternalIP"));
  row.text(node_address(addresses, "ExternalIP"));
  row.text(info.get("osImage").as_string(), kUnknownCell);
  row.text(kernel);
  row.text(info.get("containerRuntimeVersion").as_string(), kUnknownCell);
}

void secret_row(Row& row) {
  row.name();
  row.text(row.text_of({"type"}));
  row.number(static_cast<std::int64_t>(row.get({"data"}).size()));
  row.age();
}

void service_row(Row& row) {
  const Value cluster_ips = row.get({"spec", "clusterIPs"});
  row.name();
  row.text(row.text_of({"spec", "type"}));
  row.text(cluster_ips.empty() ? kNone : cluster_ips.item(0).as_string());
  row.text(external_address(row));
  row.text(service_ports(row.get({"spec", "ports"})), kNone);
  row.age();
  row.text(labels_text(row.get({"spec", "selector"})));
}

void volume_claim_row(Row& row) {
  const auto volume = row.text_of({"spec", "volumeName"});
  const bool bound = !volume.empty();
  row.name();
  row.text(phase_of(row));
  row.text(volume);
  row.text(bound ? row.text_of({"status", "capacity", "storage"}) : "", bound ? "0" : "");
  row.text(bound ? access_modes(row.get({"status", "accessModes"})) : "");
  row.text(storage_class(row));
  row.text(row.text_of({"spec", "volumeAttributesClassName"}), kUnset);
  row.age();
  row.text(row.text_of({"spec", "volumeMode"}), kUnset);
}

void volume_row(Row& row) {
  const Value claim = row.get({"spec", "claimRef"});
  row.name();
  row.text(row.text_of({"spec", "capacity", "storage"}), "0");
  row.text(access_modes(row.get({"spec", "accessModes"})));
  row.text(row.text_of({"spec", "persistentVolumeReclaimPolicy"}));
  row.text(phase_of(row));
  row.text(claim.is_null() ? ""
                           : fmt::format("{}/{}", claim.get("namespace").as_string(),
                                         claim.get("name").as_string()));
  row.text(storage_class(row));
  row.text(row.text_of({"spec", "volumeAttributesClassName"}), kUnset);
  row.text(row.text_of({"status", "reason"}));
  row.age();
  row.text(row.text_of({"spec", "volumeMode"}), kUnset);
}

}  // namespace muster::api
