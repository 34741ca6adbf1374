#include "admission/pod/pod_defaults.h"

#include <algorithm>
#include <array>

#include "admission/rules/edit.h"
#include "api/values/quantity.h"

namespace muster::admission {
namespace {

constexpr std::array<std::string_view, 3> kContainerLists = {"initContainers", "containers",
                                                             "ephemeralContainers"};

void default_http_get(Value http_get) {
  if (!http_get.is_object()) return;
  set_default(http_get, "path", "/");
  set_default(http_get, "scheme", "HTTP");
}

void default_probe(Value probe) {
  if (!probe.is_object()) return;
  default_http_get(probe.get("httpGet"));
  if (const Value grpc = probe.get("grpc"); grpc.is_object()) set_default(grpc, "service", "");
  set_default(probe, "timeoutSeconds", Value::of(1));
  set_default(probe, "periodSeconds", Value::of(10));
  set_default(probe, "successThreshold", Value::of(1));
  set_default(probe, "failureThreshold", Value::of(3));
}

void default_env(Value env) {
  for (const Value variable : env.items()) {
    if (const Value field = variable.get({"valueFrom", "fieldRef"}); field.is_object())
      set_default(field, "apiVersion", "v1");
    if (const Value file = variable.get({"valueFrom", "fileKeyRef"}); file.is_object())
      set_default(file, "optional", Value::of(false));
  }
}

void default_container(Value container) {
  for (const Value port : container.get("ports").items()) set_default(port, "protocol", "TCP");
  default_env(container.get("env"));
  round_resources(container.get("resources"));
  for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"})
    default_probe(container.get(probe));
  for (const std::string_view hook : {"postStart", "preStop"})
    default_http_get(container.get({"lifecycle", hook, "httpGet"}));
  set_default(container, "terminationMessagePath", "/dev/termination-log");
  set_default(container, "terminationMessagePolicy", "File");
  set_default(container, "imagePullPolicy",
              Value::view(default_pull_policy(text_of(container, "image"))));
}

// The old name of the field and the new one always say the same; the new one wins.
void pair_service_account_names(Value spec) {
  const Value name = has_value(spec, "serviceAccountName") ? spec.get("serviceAccountName")
                                                           : spec.get("serviceAccount");
  if (name.is_null()) return;
  spec.set("serviceAccountName", name);
  spec.set("serviceAccount", name);
}

// A limit without a request is a request of the same amount.
void request_what_is_limited(Value container) {
  const Value limits = container.get({"resources", "limits"});
  if (limits.empty()) return;
  const Value requests = container.get("resources").object_at("requests");
  for (const json::Member& limit : limits.members()) set_default(requests, limit.key, limit.value);
}

// Pod-level requests: what the containers ask for together, else the pod's own limits. Init
// containers run one after the other, before the others.
void default_pod_level_requests(Value spec) {
  const Value resources = spec.get("resources");
  if (!resources.is_object()) return;
  const Value requests = resources.object_at("requests");
  for (const std::string_view name : {"cpu", "memory"}) {
    api::Quantity sum;
    bool asked = false;
    for (const Value container : spec.get("containers").items()) {
      const auto amount =
          api::Quantity::parse(container.get({"resources", "requests", name}).as_string());
      asked = asked || amount;
      if (amount) sum += *amount;
    }
    for (const Value container : spec.get("initContainers").items()) {
      const auto amount =
          api::Quantity::parse(container.get({"resources", "requests", name}).as_string());
      asked = asked || amount;
      if (amount && *amount > sum) sum = *amount;
    }
    if (asked && !sum.is_zero())
      set_default(requests, name, Value::string(spec.arena(), sum.text()));
    else if (const Value limit = resources.get({"limits", name}); !limit.is_null())
      set_default(requests, name, limit);
  }
  if (requests.empty()) resources.erase("requests");
}

void publish_ports_on_host(Value container) {
  for (const Value port : container.get("ports").items())
    if (has_value(port, "containerPort")) set_default(port, "hostPort", port.get("containerPort"));
}

}  // namespace

std::string_view default_pull_policy(std::string_view image) {
  if (image.empty()) return "IfNotPresent";
  const auto digest = image.find('@');
  const std::string_view named = image.substr(0, digest);
  const auto slash = named.rfind('/');
  const auto colon = named.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon == std::string_view::npos)
    return digest == std::string_view::npos ? "Always" : "IfNotPresent";
  return named.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

void round_resource_list(Value list) {
  for (json::Member& amount : list.members()) {
    const auto quantity = api::Quantity::parse(amount.value.as_string());
    if (!quantity) continue;  // not for defaulting to judge
    const api::Quantity rounded = quantity->rounded_up_to_milli();
    if (rounded != *quantity) amount.value = Value::string(list.arena(), rounded.text());
  }
}

void round_resources(Value resources) {
  round_resource_list(resources.get("limits"));
  round_resource_list(resources.get("requests"));
}

void default_pod_spec(Value spec) {
  for (const Value volume : spec.get("volumes").items()) default_volume(volume);
  for (const std::string_view list : kContainerLists)
    for (const Value container : spec.get(list).items()) default_container(container);
  set_default(spec, "restartPolicy", "Always");
  set_default(spec, "terminationGracePeriodSeconds", Value::of(30));
  set_default(spec, "dnsPolicy", "ClusterFirst");
  spec.object_at("securityContext");
  set_default(spec, "schedulerName", "default-scheduler");
  round_resource_list(spec.get("overhead"));
  round_resources(spec.get("resources"));
  pair_service_account_names(spec);
}

void default_pod_template(Value owner, std::string_view key) {
  const Value pod = owner.object_at(key);
  pod.object_at("metadata");
  default_pod_spec(pod.object_at("spec"));
}

void default_pod_only(Value spec) {
  const bool host_network = spec.get("hostNetwork").as_bool();
  for (const std::string_view list : {"initContainers", "containers"}) {
    for (const Value container : spec.get(list).items()) {
      request_what_is_limited(container);
      if (host_network) publish_ports_on_host(container);
    }
  }
  default_pod_level_requests(spec);
  if (int_of(spec, "terminationGracePeriodSeconds") < 0)
    spec.set("terminationGracePeriodSeconds", Value::of(1));
  set_default(spec, "enableServiceLinks", Value::of(true));
}

}  // namespace muster::admission
