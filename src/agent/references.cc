#include "agent/references.h"

#include "api/views/job_set_names.h"

namespace muster::agent {
namespace {

using json::Value;

class Collector {
 public:
  explicit Collector(std::string ns) : ns_(std::move(ns)) {}

  void add(ReferenceKind kind, Value name) {
    if (!name.as_string().empty())
      found_.insert({.kind = kind, .ns = ns_, .name = std::string(name.as_string())});
  }
  void add_container(Value container) {
    for (const Value from : container.get("envFrom").items()) {
      add(ReferenceKind::kConfigMap, from.get({"configMapRef", "name"}));
      add(ReferenceKind::kSecret, from.get({"secretRef", "name"}));
    }
    for (const Value variable : container.get("env").items()) {
      const Value from = variable.get("valueFrom");
      add(ReferenceKind::kConfigMap, from.get({"configMapKeyRef", "name"}));
      add(ReferenceKind::kSecret, from.get({"secretKeyRef", "name"}));
    }
  }
  void add_volume(Value volume) {
    add(ReferenceKind::kConfigMap, volume.get({"configMap", "name"}));
    add(ReferenceKind::kSecret, volume.get({"secret", "secretName"}));
    add(ReferenceKind::kClaim, volume.get({"persistentVolumeClaim", "claimName"}));
    for (const Value source : volume.get({"projected", "sources"}).items()) {
      add(ReferenceKind::kConfigMap, source.get({"configMap", "name"}));
      add(ReferenceKind::kSecret, source.get({"secret", "name"}));
    }
  }
  std::set<Reference> take() { return std::move(found_); }

 private:
  std::string ns_;
  std::set<Reference> found_;
};

constexpr std::string_view kTokenVolume = "kube-api-access-";

bool wants_token(Value spec) {
  const std::string_view account = spec.get("serviceAccountName").as_string();
  return spec.get("automountServiceAccountToken").as_bool() ||
         (!account.empty() && account != "default");
}

void drop_named(Value list) {
  for (std::size_t i = list.size(); i-- > 0;) {
    if (list.item(i).get("name").as_string().starts_with(kTokenVolume)) list.erase_item(i);
  }
}

std::set<std::string> mounted(Value container) {
  std::set<std::string> names;
  for (const Value mount : container.get("volumeMounts").items())
    names.emplace(mount.get("name").as_string());
  return names;
}

}  // namespace

std::set<Reference> references_of(Value pod, const PodView& view) {
  Collector collector(view.ns);
  for (const std::string_view part : {"initContainers", "containers"}) {
    for (const Value container : pod.get({"spec", part}).items())
      collector.add_container(container);
  }
  for (const Value volume : pod.get({"spec", "volumes"}).items()) collector.add_volume(volume);
  if (view.barrier) {
    collector.add(ReferenceKind::kConfigMap, Value::view(view.barrier->config_map));
    collector.add(ReferenceKind::kHost, Value::view(view.barrier->coordinator));
  }
  return collector.take();
}

void drop_unwanted_token(Value pod) {
  const Value spec = pod.get("spec");
  if (wants_token(spec)) return;
  drop_named(spec.get("volumes"));
  for (const std::string_view part : {"initContainers", "containers"}) {
    for (const Value container : spec.get(part).items()) drop_named(container.get("volumeMounts"));
  }
}

void drop_barrier_volumes(Value pod) {
  const Value barrier = container_spec(pod, api::kBarrierContainer);
  if (barrier.is_null() || !pod.get({"metadata", "annotations"}).has(api::annotation::kBarrier))
    return;
  std::set<std::string> only_there = mounted(barrier);
  for (const std::string_view part : {"initContainers", "containers"}) {
    for (const Value container : pod.get({"spec", part}).items()) {
      if (container.get("name").as_string() == api::kBarrierContainer) continue;
      for (const std::string& name : mounted(container)) only_there.erase(name);
    }
  }
  const Value volumes = pod.get({"spec", "volumes"});
  for (std::size_t i = volumes.size(); i-- > 0;) {
    if (only_there.contains(std::string(volumes.item(i).get("name").as_string())))
      volumes.erase_item(i);
  }
}

}  // namespace muster::agent
