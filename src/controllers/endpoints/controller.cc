#include "controllers/endpoints/controller.h"

namespace muster::controllers::endpoints {

Controller::Controller(Shared& shared)
    : services_(shared.informers.changes_of("", "v1", "services"), reader(read_service)),
      pods_(shared.informers.changes_of("", "v1", "pods"), reader(read_pod)),
      nodes_(shared.informers.changes_of("", "v1", "nodes"), reader(read_node)),
      slices_(shared.informers.changes_of("discovery.k8s.io", "v1", "endpointslices"),
              reader(read_slice)),
      events_(make_event_recorder(shared.client, shared.registry, "endpoint-slice-controller",
                                  EventRecorder::Form::kCore)),
      runner_(shared.client,
              {.name = "endpointslice",
               .sources = {&services_.informer(), &pods_.informer(), &nodes_.informer(),
                           &slices_.informer()},
               .plan = [this](const QueueKey& key, const Pass&) { return plan_for(key); },
               .events = events_.get(),
               .log = &shared.decisions}) {
  services_.on_change([this](const Service* before, const Service* after) {
    selection_.service_changed(before, after);
    if (after != nullptr) runner_.add({after->ref.ns, after->ref.name});
  });
  pods_.on_change([this](const Pod* before, const Pod* after) {
    selection_.pod_changed(before, after);
    if (before != nullptr && after != nullptr && !matters(*before, *after)) return;
    if (before != nullptr) wake_services_of(*before);
    if (after != nullptr) wake_services_of(*after);
  });
  slices_.on_change([this](const Slice* before, const Slice* after) {
    note(before, after);
    for (const Slice* slice : {before, after}) {
      if (slice != nullptr && !slice->service.empty()) runner_.add({slice->ref.ns, slice->service});
    }
  });
}

void Controller::wake_services_of(const Pod& pod) {
  for (const Service* service : selection_.services_of(pod)) {
    if (service->wants_slices()) runner_.add({service->ref.ns, service->ref.name});
  }
}

void Controller::note(const Slice* before, const Slice* after) {
  if (before != nullptr && !before->service.empty()) {
    const auto of = slices_of_.find({before->ref.ns, before->service});
    of->second.erase(before->ref.name);
    if (of->second.empty()) slices_of_.erase(of);
  }
  if (after != nullptr && !after->service.empty())
    slices_of_[{after->ref.ns, after->service}][after->ref.name] = after;
}

Plan Controller::plan_for(const QueueKey& key) const {
  Observed observed{
      .service = services_.find(key.ns, key.name), .pods = {}, .slices = {}, .node = {}};
  if (observed.service == nullptr) return {};
  observed.pods = selection_.pods_of(*observed.service);
  if (const auto of = slices_of_.find(key); of != slices_of_.end()) {
    for (const auto& [name, slice] : of->second) observed.slices.push_back(slice);
  }
  observed.node = [this](const std::string& name) { return nodes_.find("", name); };
  return plan(slices_.informer().resource(), observed);
}

}  // namespace muster::controllers::endpoints
