#include "controllers/endpoints/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "controllers/endpoints/packing.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers::endpoints {
namespace {

using json::Value;
using Ports = std::vector<Port>;

bool is_ipv6(const std::string& ip) { return ip.find(':') != std::string::npos; }

std::int64_t resolve(const ServicePort& port, const Pod& pod) {
  if (port.target_port != 0) return port.target_port;
  for (const ContainerPort& each : pod.ports) {
    if (each.name == port.target_name && each.protocol == port.protocol) return each.port;
  }
  return 0;
}

// A port that the pod does not have is left out.
Ports ports_of(const Service& service, const Pod& pod) {
  Ports ports;
  for (const ServicePort& port : service.ports) {
    if (const std::int64_t number = resolve(port, pod); number != 0)
      ports.push_back({port.name, port.protocol, port.app_protocol, number});
  }
  std::ranges::sort(ports);
  return ports;
}

Endpoint endpoint_of(const Service& service, const Pod& pod, const std::string& address_type,
                     const Node* node) {
  Endpoint endpoint{.node = pod.node,
                    .zone = node == nullptr ? "" : node->zone,
                    .pod = pod.ref.name,
                    .pod_uid = pod.ref.uid,
                    .ready = service.publish_not_ready || (pod.ready && !pod.deleting),
                    .serving = pod.ready,
                    .terminating = pod.deleting};
  for (const std::string& ip : pod.ips) {
    if (is_ipv6(ip) == (address_type == "IPv6")) endpoint.addresses.push_back(ip);
  }
  if (!pod.hostname.empty() && pod.subdomain == service.ref.name) endpoint.hostname = pod.hostname;
  return endpoint;
}

Value as_value(json::Arena& arena, const Endpoint& endpoint, const std::string& ns) {
  Value out = Value::object(arena);
  for (const std::string& address : endpoint.addresses)
    out.array_at("addresses").push_back(Value::string(arena, address));
  const Value conditions = out.object_at("conditions");
  conditions.set("ready", Value::of(endpoint.ready));
  conditions.set("serving", Value::of(endpoint.serving));
  conditions.set("terminating", Value::of(endpoint.terminating));
  if (!endpoint.hostname.empty()) out.set("hostname", endpoint.hostname);
  const Value target = out.object_at("targetRef");
  target.set("kind", "Pod");
  target.set("namespace", ns);
  target.set("name", endpoint.pod);
  target.set("uid", endpoint.pod_uid);
  if (!endpoint.node.empty()) out.set("nodeName", endpoint.node);
  if (!endpoint.zone.empty()) out.set("zone", endpoint.zone);
  return out;
}

Value as_value(json::Arena& arena, const Ports& ports) {
  if (ports.empty()) return {};
  const Value out = Value::array(arena);
  for (const Port& port : ports) {
    const Value each = Value::object(arena);
    each.set("name", port.name);
    each.set("protocol", port.protocol);
    each.set("port", Value::of(port.port));
    if (!port.app_protocol.empty()) each.set("appProtocol", port.app_protocol);
    out.push_back(each);
  }
  return out;
}

Labels labels_of(const Service& service) {
  Labels labels = service.labels;
  labels.erase(std::string(kHeadless));
  if (service.headless) labels.emplace(kHeadless, "");
  labels[std::string(kServiceName)] = service.ref.name;
  labels[std::string(kManagedBy)] = kManager;
  return labels;
}

// What a slice shall be; `slice` is null for a new one.
struct Target {
  const Slice* slice = nullptr;
  std::string address_type;
  Ports ports;
  std::vector<Endpoint> endpoints;
};

class Planner {
 public:
  Planner(const api::Resource& resource, const Observed& observed)
      : resource_(resource), observed_(observed), service_(*observed.service) {
    for (const Pod* pod : observed.pods) {
      newest_change_ = std::max(newest_change_, pod->ready_since.value_or(Time{}));
    }
    newest_change_ = std::max(newest_change_, service_.created);
  }

  Plan plan() {
    for (const Slice* slice : observed_.slices) {
      const auto& types = service_.address_types;
      if (std::ranges::find(types, slice->address_type) == types.end()) doomed_.push_back(slice);
    }
    for (const std::string& type : service_.address_types) assign_endpoints(type);
    return write();
  }

 private:
  std::map<Ports, std::vector<Endpoint>> wanted(const std::string& address_type) {
    std::map<Ports, std::vector<Endpoint>> out;
    for (const Pod* pod : observed_.pods) {
      if (pod->ended) continue;
      const Node* const node = pod->node.empty() ? nullptr : observed_.node(pod->node);
      Endpoint endpoint = endpoint_of(service_, *pod, address_type, node);
      if (endpoint.addresses.empty()) continue;
      if (node == nullptr && !pod->node.empty() && !service_.publish_not_ready) {
        error_ =
            fmt::format("pod {} is left out: its node {} is not known", pod->ref.name, pod->node);
        continue;
      }
      out[ports_of(service_, *pod)].push_back(std::move(endpoint));
    }
    return out;
  }

  void assign_endpoints(const std::string& address_type) {
    std::map<Ports, std::vector<const Slice*>> existing;
    for (const Slice* slice : observed_.slices) {
      if (slice->address_type == address_type && !slice->deleting)
        existing[slice->ports].push_back(slice);
    }
    auto groups = wanted(address_type);
    if (groups.empty()) groups[{}];  // a placeholder, without ports
    std::vector<Target> fresh;
    std::vector<const Slice*> spare;
    for (auto& [ports, endpoints] : groups) {
      const bool placeholder = endpoints.empty();
      Packing packing = pack(existing[ports], std::move(endpoints));
      existing.erase(ports);
      if (placeholder) keep_one(address_type, packing, fresh);
      for (Packed& each : packing.changed) {
        auto& into = each.slice == nullptr ? fresh : targets_;
        into.push_back({each.slice, address_type, ports, std::move(each.endpoints)});
      }
      for (const Slice* slice : packing.unchanged)
        targets_.push_back({slice, address_type, ports, slice->endpoints});
      spare.insert(spare.end(), packing.emptied.begin(), packing.emptied.end());
    }
    for (const auto& [ports, slices] : existing)
      spare.insert(spare.end(), slices.begin(), slices.end());
    reuse(fresh, spare);
  }

  // No endpoint at all: exactly one empty slice stands for that.
  static void keep_one(const std::string& address_type, Packing& packing,
                       std::vector<Target>& fresh) {
    if (packing.unchanged.empty()) fresh.push_back({nullptr, address_type, {}, {}});
    while (packing.unchanged.size() > 1) {
      packing.emptied.push_back(packing.unchanged.back());
      packing.unchanged.pop_back();
    }
  }

  // A slice that would go takes the place of one that would come.
  void reuse(std::vector<Target>& fresh, std::vector<const Slice*>& spare) {
    for (Target& target : fresh) {
      const auto at = std::ranges::find(spare, service_.ref.uid, &Slice::owner_uid);
      if (at != spare.end()) {
        target.slice = *at;
        spare.erase(at);
      }
      targets_.push_back(std::move(target));
    }
    doomed_.insert(doomed_.end(), spare.begin(), spare.end());
  }

  bool is_as_wanted(const Target& target) const {
    return target.slice->endpoints == target.endpoints && target.slice->ports == target.ports &&
           target.slice->labels == labels_of(service_);
  }

  Plan write() {
    Step creates, updates, deletes;
    for (const Target& target : targets_) {
      if (target.slice == nullptr) {
        creates.writes.push_back({.operation = create(resource_, body(target))});
      } else if (!is_as_wanted(target)) {
        updates.writes.push_back(
            {.operation = patch(resource_, target.slice->ref, change(target))});
      }
    }
    for (const Slice* slice : doomed_) {
      if (!slice->deleting)
        deletes.writes.push_back(
            {.operation = remove(resource_, slice->ref, Propagation::kBackground)});
    }
    Plan plan;
    plan.reason = "the slices do not hold the pods of the Service";
    plan.error = error_;
    for (Step* step : {&creates, &updates, &deletes}) {
      if (step->writes.empty()) continue;
      step->when_refused = refused();
      plan.steps.push_back(std::move(*step));
    }
    return plan;
  }

  Event refused() const {
    return {.regarding = service_.ref,
            .warning = true,
            .reason = "FailedToUpdateEndpointSlices",
            .message = fmt::format("Error updating Endpoint Slices for Service {}/{}: {{}}",
                                   service_.ref.ns, service_.ref.name)};
  }

  // What changes in a slice of ours; labels that are gone must be named.
  Value change(const Target& target) {
    Value out = content(target);
    const Value labels = out.get("metadata").get("labels");
    for (const auto& [key, value] : target.slice->labels) {
      if (!labels.has(key)) labels.set(key, Value());
    }
    return out;
  }

  Value body(const Target& target) {
    Value out = content(target);
    out.set("apiVersion", "discovery.k8s.io/v1");
    out.set("kind", "EndpointSlice");
    out.set("addressType", target.address_type);
    const Value metadata = out.get("metadata");
    metadata.set("generateName", service_.ref.name + "-");
    metadata.set("namespace", service_.ref.ns);
    metadata.array_at("ownerReferences").push_back(controller_reference(arena_, service_.ref));
    return out;
  }

  Value content(const Target& target) {
    Value out = Value::object(arena_);
    const Value metadata = out.object_at("metadata");
    for (const auto& [key, value] : labels_of(service_))
      metadata.object_at("labels").set(key, value);
    if (newest_change_ > Time{})
      metadata.object_at("annotations").set(kTriggerTime, format_time(newest_change_));
    const Value endpoints = out.array_at("endpoints");
    for (const Endpoint& each : target.endpoints)
      endpoints.push_back(as_value(arena_, each, service_.ref.ns));
    out.set("ports", as_value(arena_, target.ports));
    return out;
  }

  const api::Resource& resource_;
  const Observed& observed_;
  const Service& service_;
  Time newest_change_;
  std::vector<Target> targets_;
  std::vector<const Slice*> doomed_;
  std::string error_;
  json::Arena arena_;
};

}  // namespace

Plan plan(const api::Resource& slices, const Observed& observed) {
  if (!observed.service->wants_slices()) return {};
  return Planner(slices, observed).plan();
}

}  // namespace muster::controllers::endpoints
