#include "controllers/endpoints/views.h"

#include <algorithm>

#include "api/views/pod_phase.h"
#include "api/views/views.h"

namespace muster::controllers::endpoints {
namespace {

using json::Value;

std::string text(Value object, std::string_view key) {
  return std::string(object.get(key).as_string());
}

std::string text_or(Value object, std::string_view key, std::string_view otherwise) {
  const std::string_view found = object.get(key).as_string();
  return std::string(found.empty() ? otherwise : found);
}

Labels labels_of(Value map) {
  Labels out;
  for (const auto& [key, value] : map.members()) out.emplace(key, value.as_string());
  return out;
}

bool is_deleting(Value object) { return !object.get({"metadata", "deletionTimestamp"}).is_null(); }

ServicePort read_service_port(Value port) {
  const Value target = port.get("targetPort");
  ServicePort out{.name = text(port, "name"),
                  .protocol = text_or(port, "protocol", "TCP"),
                  .app_protocol = text(port, "appProtocol"),
                  .target_port = target.as_int(),
                  .target_name = std::string(target.as_string())};
  if (out.target_port == 0 && out.target_name.empty()) out.target_port = port.get("port").as_int();
  return out;
}

void add_ports(std::vector<ContainerPort>& ports, Value container) {
  for (const Value port : container.get("ports").items()) {
    ports.push_back(
        {text(port, "name"), text_or(port, "protocol", "TCP"), port.get("containerPort").as_int()});
  }
}

void read_ips(Pod& pod, Value status) {
  for (const Value each : status.get("podIPs").items()) pod.ips.push_back(text(each, "ip"));
  if (pod.ips.empty() && !text(status, "podIP").empty()) pod.ips.push_back(text(status, "podIP"));
}

Endpoint read_endpoint(Value endpoint) {
  Endpoint out{.hostname = text(endpoint, "hostname"),
               .node = text(endpoint, "nodeName"),
               .zone = text(endpoint, "zone"),
               .pod = text(endpoint.get("targetRef"), "name"),
               .pod_uid = text(endpoint.get("targetRef"), "uid"),
               .ready = endpoint.get({"conditions", "ready"}).as_bool(),
               .serving = endpoint.get({"conditions", "serving"}).as_bool(),
               .terminating = endpoint.get({"conditions", "terminating"}).as_bool()};
  for (const Value address : endpoint.get("addresses").items())
    out.addresses.emplace_back(address.as_string());
  return out;
}

}  // namespace

bool Service::selects(const Labels& others) const {
  return std::ranges::all_of(selector, [&](const auto& wanted) {
    const auto found = others.find(wanted.first);
    return found != others.end() && found->second == wanted.second;
  });
}

bool matters(const Pod& before, const Pod& after) {
  return before.ref.uid != after.ref.uid || before.labels != after.labels ||
         before.ips != after.ips || before.hostname != after.hostname ||
         before.subdomain != after.subdomain || before.node != after.node ||
         before.deleting != after.deleting || before.ended != after.ended ||
         before.ready != after.ready || before.ports != after.ports;
}

Service read_service(Value object) {
  const Value spec = object.get("spec");
  Service out{
      .ref = ref_of(object, "v1", "Service"),
      .labels = labels_of(object.get({"metadata", "labels"})),
      .selector = labels_of(spec.get("selector")),
      .deleting = is_deleting(object),
      .external_name = text(spec, "type") == "ExternalName",
      .headless = text(spec, "clusterIP") == "None",
      .publish_not_ready = spec.get("publishNotReadyAddresses").as_bool(),
      .created =
          parse_time(object.get({"metadata", "creationTimestamp"}).as_string()).value_or(Time{})};
  for (const Value family : spec.get("ipFamilies").items())
    out.address_types.emplace_back(family.as_string());
  if (out.address_types.empty()) out.address_types = {"IPv4"};
  for (const Value port : spec.get("ports").items()) out.ports.push_back(read_service_port(port));
  return out;
}

Pod read_pod(Value object) {
  const Value spec = object.get("spec");
  const Value status = object.get("status");
  Pod out{.ref = ref_of(object, "v1", "Pod"),
          .labels = labels_of(object.get({"metadata", "labels"})),
          .hostname = text(spec, "hostname"),
          .subdomain = text(spec, "subdomain"),
          .node = text(spec, "nodeName"),
          .deleting = is_deleting(object),
          .ended = api::is_end_phase(status.get("phase").as_string())};
  read_ips(out, status);
  const api::Conditions conditions = api::read_conditions(status.get("conditions"));
  if (const api::Condition* ready = api::find_condition(conditions, "Ready")) {
    out.ready = ready->is_true;
    out.ready_since = ready->last_transition_time;
  }
  for (const Value container : spec.get("containers").items()) add_ports(out.ports, container);
  for (const Value container : spec.get("initContainers").items()) {
    if (text(container, "restartPolicy") == "Always") add_ports(out.ports, container);
  }
  return out;
}

Node read_node(Value object) {
  return {text(object.get({"metadata", "labels"}), "topology.kubernetes.io/zone")};
}

Slice read_slice(Value object) {
  Slice out{.ref = ref_of(object, "discovery.k8s.io/v1", "EndpointSlice"),
            .labels = labels_of(object.get({"metadata", "labels"})),
            .deleting = is_deleting(object),
            .address_type = text(object, "addressType")};
  const auto manager = out.labels.find(std::string(kManagedBy));
  const auto service = out.labels.find(std::string(kServiceName));
  if (manager != out.labels.end() && manager->second == kManager && service != out.labels.end())
    out.service = service->second;
  for (const Value owner : object.get({"metadata", "ownerReferences"}).items()) {
    if (owner.get("controller").as_bool()) out.owner_uid = text(owner, "uid");
  }
  for (const Value port : object.get("ports").items()) {
    out.ports.push_back({text(port, "name"), text_or(port, "protocol", "TCP"),
                         text(port, "appProtocol"), port.get("port").as_int()});
  }
  std::ranges::sort(out.ports);
  for (const Value endpoint : object.get("endpoints").items())
    out.endpoints.push_back(read_endpoint(endpoint));
  return out;
}

}  // namespace muster::controllers::endpoints
