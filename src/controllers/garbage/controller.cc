#include "controllers/garbage/controller.h"

#include "controllers/runtime/fair_group.h"

namespace muster::controllers::garbage {

// One informer per stored kind, whatever versions it is served in.
std::vector<client::Informer*> Controller::sources(Shared& shared) {
  std::vector<client::Informer*> out;
  for (const api::Resource* resource : shared.registry.resources()) {
    const bool watched = resource->storage == resource && resource->gvk.kind != "Event" &&
                         resource->has_verb("delete") && resource->has_verb("list") &&
                         resource->has_verb("watch");
    if (watched) out.push_back(&shared.informers.metadata_of(*resource));
  }
  return out;
}

Controller::Controller(Shared& shared)
    : owners_(shared.client,
              [this](const QueueKey& key, Duration delay) { runner_.add_after(key, delay); }),
      around_{graph_, shared.registry,
              [this](const Place& place) { return owners_.answer(place); }},
      events_(make_event_recorder(shared.client, shared.registry, "garbage-collector-controller",
                                  EventRecorder::Form::kCore)),
      runner_(shared.client, {.name = "garbage",
                              .sources = sources(shared),
                              .plan = [this](const QueueKey& key,
                                             const Pass& pass) { return plan_for(key, pass.now); },
                              .group =
                                  [this](const QueueKey& key) {
                                    const Item* const item = graph_.find(key.name);
                                    return item == nullptr ? std::string()
                                                           : fair_group(item->meta());
                                  },
                              .events = events_.get(),
                              .log = &shared.decisions}) {
  for (client::Informer* source : sources(shared)) {
    source->on_change(
        [this, &resource = source->resource()](const auto& before, const auto& after) {
          observe(resource, before, after);
        });
  }
}

void Controller::observe(const api::Resource& resource, const client::ObjectPtr& before,
                         const client::ObjectPtr& after) {
  if (before && (!after || after->meta().uid != before->meta().uid)) {
    const api::Meta& gone = before->meta();
    owners_.saw_removal({resource.storage, gone.ns, gone.name, gone.uid},
                        !graph_.dependents(gone.uid).empty());
    settling_.erase(gone.uid);
    owners_.forget({gone.ns, gone.uid});
  }
  for (const QueueKey& key : graph_.observe(resource, before, after)) runner_.add(key);
}

// What belongs to somebody who goes in the foreground must be gone before, also what its controller
// was just making, or what is told by another watch and is not here yet. So the root of a tree gets
// a moment. Branches do not need one: restarts wait for them, and they go with their root.
std::optional<Duration> Controller::unsettled(const Item& item, Time now) {
  constexpr Duration kSettle = std::chrono::milliseconds(500);
  if (!item.deletes_dependents() || !item.meta().owners.empty()) return std::nullopt;
  const Time since = settling_.try_emplace(item.meta().uid, now).first->second;
  if (now - since >= kSettle) return std::nullopt;
  return kSettle - (now - since);
}

Plan Controller::plan_for(const QueueKey& key, Time now) {
  const Item* const item = graph_.find(key.name);
  if (item == nullptr) return {};
  if (const auto rest = unsettled(*item, now)) {
    Plan wait;
    wait.look_again = rest;
    return wait;
  }
  Verdict verdict = judge(around_, *item, owners_.found(key, *item));
  if (verdict.ask.empty())
    owners_.forget(key);
  else
    owners_.ask(key, *item, verdict.ask);
  return std::move(verdict.plan);
}

}  // namespace muster::controllers::garbage
