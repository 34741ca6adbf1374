#include "controllers/garbage/controller.h"

#include <algorithm>

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
    : loop_(shared.client.loop()),
      sources_(sources(shared)),
      owners_(shared.client,
              [this](const QueueKey& key, Duration delay) { runner_.add_after(key, delay); }),
      around_{graph_, shared.registry},
      events_(make_event_recorder(shared.client, shared.registry, "garbage-collector-controller",
                                  EventRecorder::Form::kCore)),
      runner_(shared.client,
              {.name = "garbage",
               .sources = sources_,
               .plan = [this](const QueueKey& key, const Pass&) { return plan_for(key); },
               .carried_out = [this](const QueueKey& key, const auto&) { carried_out(key); },
               .group =
                   [this](const QueueKey& key) {
                     const Item* const item = graph_.find(key.name);
                     return item == nullptr ? std::string() : fair_group(item->meta());
                   },
               .events = events_.get(),
               .log = &shared.decisions}) {
  for (client::Informer* source : sources_) {
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
    going_roots_.erase(gone.uid);
    questions_.erase({gone.ns, gone.uid});
    owners_.forget({gone.ns, gone.uid});
  }
  for (const QueueKey& key : graph_.observe(resource, before, after)) runner_.add(key);
  if (!after) return;
  const Item* const item = graph_.find(after->meta().uid);
  if (item->deletes_dependents() && item->meta().owners.empty())
    going_roots_.try_emplace(item->meta().uid, loop_.monotonic());
}

store::Revision Controller::known_up_to() const {
  store::Revision least = sources_.front()->position();
  for (const client::Informer* source : sources_) least = std::min(least, source->position());
  return least;
}

Plan Controller::plan_for(const QueueKey& key) {
  questions_.erase(key);
  const Item* const item = graph_.find(key.name);
  if (item == nullptr) return {};
  if (const auto root = going_roots_.find(key.name); root != going_roots_.end()) {
    if (const auto wait = unsettled(*item, known_up_to(), loop_.monotonic() - root->second)) {
      Plan plan;
      plan.look_again = wait;
      return plan;
    }
  }
  Verdict verdict = judge(around_, *item, owners_.found(key, *item));
  questions_[key] = std::move(verdict.ask);
  return std::move(verdict.plan);
}

// Asking the server is an effect, so it comes after the plan, which is empty then.
void Controller::carried_out(const QueueKey& key) {
  const auto questions = questions_.extract(key);
  const Item* const item = graph_.find(key.name);
  if (questions.empty() || item == nullptr) return;
  if (questions.mapped().empty()) return owners_.forget(key);
  owners_.ask(key, *item, questions.mapped());
}

}  // namespace muster::controllers::garbage
