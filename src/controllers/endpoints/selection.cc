#include "controllers/endpoints/selection.h"

namespace muster::controllers::endpoints {
namespace {

bool begin_alike(const Service& a, const Service& b) {
  return a.ref.ns == b.ref.ns && a.ref.name == b.ref.name && !a.selector.empty() &&
         !b.selector.empty() && *a.selector.begin() == *b.selector.begin();
}

// The pods of a group have the first label of the selector.
bool selects_rest(const Service& service, const Labels& labels) {
  return service.selector.size() == 1 || service.selects(labels);
}

}  // namespace

void Selection::service_changed(const Service* before, const Service* after) {
  if (before != nullptr && after != nullptr && begin_alike(*before, *after)) {
    const auto& [key, value] = *after->selector.begin();
    labels_.at(key).groups.at({after->ref.ns, value}).services.at(after->ref.name) = after;
    return;
  }
  // In this order, so that a label that both begin with is not forgotten in between.
  if (after != nullptr && !after->selector.empty()) add(*after);
  if (before != nullptr && !before->selector.empty()) remove(*before);
}

void Selection::add(const Service& service) {
  const auto& [key, value] = *service.selector.begin();
  const auto [label, is_new] = labels_.try_emplace(key);
  if (is_new) {
    for (const auto& [path, pod] : pods_) {
      const auto own = pod->labels.find(key);
      if (own != pod->labels.end())
        label->second.groups[{pod->ref.ns, own->second}].pods[pod->ref.name] = pod.get();
    }
  }
  ++label->second.services;
  label->second.groups[{service.ref.ns, value}].services[service.ref.name] = &service;
}

void Selection::remove(const Service& service) {
  const auto& [key, value] = *service.selector.begin();
  const auto label = labels_.find(key);
  if (--label->second.services == 0) {
    labels_.erase(label);
    return;
  }
  const auto group = label->second.groups.find({service.ref.ns, value});
  group->second.services.erase(service.ref.name);
  if (group->second.is_empty()) label->second.groups.erase(group);
}

void Selection::pod_changed(const Pod* before, const Pod* after) {
  if (before != nullptr) {
    for (const auto& [key, value] : before->labels) {
      const auto label = labels_.find(key);
      if (label == labels_.end()) continue;
      const auto group = label->second.groups.find({before->ref.ns, value});
      group->second.pods.erase(before->ref.name);
      if (group->second.is_empty()) label->second.groups.erase(group);
    }
  }
  if (after != nullptr) {
    for (const auto& [key, value] : after->labels) {
      const auto label = labels_.find(key);
      if (label != labels_.end())
        label->second.groups[{after->ref.ns, value}].pods[after->ref.name] = after;
    }
  }
}

std::vector<const Service*> Selection::services_of(const Pod& pod) const {
  std::vector<const Service*> found;
  for (const auto& [key, value] : pod.labels) {
    const auto label = labels_.find(key);
    if (label == labels_.end()) continue;
    const auto group = label->second.groups.find({pod.ref.ns, value});
    if (group == label->second.groups.end()) continue;
    for (const auto& [name, service] : group->second.services) {
      if (selects_rest(*service, pod.labels)) found.push_back(service);
    }
  }
  return found;
}

std::vector<const Pod*> Selection::pods_of(const Service& service) const {
  std::vector<const Pod*> found;
  if (service.selector.empty()) return found;
  const auto& [key, value] = *service.selector.begin();
  const auto& groups = labels_.at(key).groups;
  for (const auto& [name, pod] : groups.at({service.ref.ns, value}).pods) {
    if (selects_rest(service, pod->labels)) found.push_back(pod);
  }
  return found;
}

}  // namespace muster::controllers::endpoints
