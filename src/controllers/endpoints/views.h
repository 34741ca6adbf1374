// What the EndpointSlice controller reads of Services, pods, nodes and slices.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "controllers/runtime/plan.h"
#include "json/value.h"

namespace muster::controllers::endpoints {

inline constexpr std::string_view kServiceName = "kubernetes.io/service-name";
inline constexpr std::string_view kManagedBy = "endpointslice.kubernetes.io/managed-by";
inline constexpr std::string_view kManager = "endpointslice-controller.k8s.io";
inline constexpr std::string_view kHeadless = "service.kubernetes.io/headless";
inline constexpr std::string_view kTriggerTime = "endpoints.kubernetes.io/last-change-trigger-time";

using Labels = std::map<std::string, std::string>;

struct ServicePort {
  std::string name;
  std::string protocol;
  std::string app_protocol;
  std::int64_t target_port = 0;  // 0: by name
  std::string target_name;
};

struct Service {
  ObjectRef ref;
  Labels labels;
  Labels selector;
  bool deleting = false;
  bool external_name = false;
  bool headless = false;
  bool publish_not_ready = false;
  std::vector<std::string> address_types;  // IPv4, IPv6
  std::vector<ServicePort> ports;
  Time created;

  bool wants_slices() const { return !selector.empty() && !external_name && !deleting; }
  bool selects(const Labels& labels) const;
};

struct ContainerPort {
  std::string name;
  std::string protocol;
  std::int64_t port = 0;
  bool operator==(const ContainerPort&) const = default;
};

struct Pod {
  ObjectRef ref;
  Labels labels;
  std::vector<std::string> ips;
  std::string hostname;
  std::string subdomain;
  std::string node;
  bool deleting = false;
  bool ended = false;
  bool ready = false;
  std::optional<Time> ready_since;   // or unready
  std::vector<ContainerPort> ports;  // containers', then those of restartable init containers
};

// Whether Services must look at the pod again.
bool matters(const Pod& before, const Pod& after);

struct Node {
  std::string zone;
};

struct Port {
  std::string name;
  std::string protocol;
  std::string app_protocol;
  std::int64_t port = 0;
  auto operator<=>(const Port&) const = default;
};

struct Endpoint {
  std::vector<std::string> addresses;
  std::string hostname;
  std::string node;
  std::string zone;
  std::string pod;  // in the Service's namespace
  std::string pod_uid;
  bool ready = false;
  bool serving = false;
  bool terminating = false;

  bool operator==(const Endpoint&) const = default;
  // The same endpoint, in whatever condition.
  auto identity() const { return std::tie(pod, hostname, addresses); }
};

struct Slice {
  ObjectRef ref;
  std::string service;  // empty if somebody else manages it
  Labels labels;
  bool deleting = false;
  std::string owner_uid;
  std::string address_type;
  std::vector<Port> ports;  // sorted
  std::vector<Endpoint> endpoints;
};

Service read_service(json::Value object);
Pod read_pod(json::Value object);
Node read_node(json::Value object);
Slice read_slice(json::Value object);

}  // namespace muster::controllers::endpoints
