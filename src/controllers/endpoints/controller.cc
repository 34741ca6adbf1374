#include "controllers/endpoints/controller.h"

namespace muster::controllers::endpoints {
namespace {

// All of one namespace, in the order of their names.
template <class View, class Visit>
void visit(const Cache<View>& cache, const std::string& ns, Visit visit_one) {
  const std::string prefix = ns + "/";
  for (auto at = cache.all().lower_bound(prefix); at != cache.all().end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    visit_one(*at->second);
  }
}

}  // namespace

Controller::Controller(Shared& shared)
    : slice_informer_(shared.informers.of("discovery.k8s.io", "v1", "endpointslices")),
      services_(shared.informers.of("", "v1", "services"), reader(read_service)),
      pods_(shared.informers.of("", "v1", "pods"), reader(read_pod)),
      nodes_(shared.informers.of("", "v1", "nodes"), reader(read_node)),
      slices_(slice_informer_, reader(read_slice)),
      events_(make_event_recorder(shared.client, shared.registry, "endpoint-slice-controller",
                                  EventRecorder::Form::kCore)),
      runner_(shared.client,
              {.name = "endpointslice",
               .sources = {&services_.informer(), &pods_.informer(), &nodes_.informer(),
                           &slice_informer_},
               .plan = [this](const QueueKey& key, const Pass&) { return plan_for(key); },
               .events = events_.get(),
               .log = &shared.decisions}) {
  services_.on_change([this](const Service*, const Service* after) {
    if (after != nullptr) runner_.add({after->ref.ns, after->ref.name});
  });
  pods_.on_change([this](const Pod* before, const Pod* after) {
    if (before != nullptr && after != nullptr && !matters(*before, *after)) return;
    if (before != nullptr) wake_services_of(*before);
    if (after != nullptr) wake_services_of(*after);
  });
  slices_.on_change([this](const Slice* before, const Slice* after) {
    for (const Slice* slice : {before, after}) {
      if (slice != nullptr && !slice->service.empty()) runner_.add({slice->ref.ns, slice->service});
    }
  });
}

void Controller::wake_services_of(const Pod& pod) {
  visit(services_, pod.ref.ns, [&](const Service& service) {
    if (service.wants_slices() && service.selects(pod.labels))
      runner_.add({service.ref.ns, service.ref.name});
  });
}

Plan Controller::plan_for(const QueueKey& key) const {
  Observed observed{
      .service = services_.find(key.ns, key.name), .pods = {}, .slices = {}, .node = {}};
  if (observed.service == nullptr) return {};
  visit(pods_, key.ns, [&](const Pod& pod) {
    if (observed.service->selects(pod.labels)) observed.pods.push_back(&pod);
  });
  visit(slices_, key.ns, [&](const Slice& slice) {
    if (slice.service == key.name) observed.slices.push_back(&slice);
  });
  observed.node = [this](const std::string& name) { return nodes_.find("", name); };
  return plan(slice_informer_.resource(), observed);
}

}  // namespace muster::controllers::endpoints
