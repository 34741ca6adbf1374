#include "server/write.h"

#include "server/errors.h"
#include "server/fresh.h"
#include "server/write_list.h"

namespace muster::server {
namespace {

// A Pod of 4 kB takes one or two such blocks on its way from request to stored form.
constexpr std::size_t kUsualArena = 64 * 1024;

void answer_outcome(const CallPtr& call, const Outcome& outcome, const store::ObjectPtr& stored) {
  if (!outcome.body.empty()) return call->answer_json(outcome.status, outcome.body);
  const store::ObjectPtr& shown = outcome.shown != nullptr ? outcome.shown : stored;
  MUSTER_ASSERT(shown != nullptr, "a write that stores nothing says what to answer");
  const Result<Renderer> renderer = make_renderer(*call);
  if (!renderer) return call->answer_error(renderer.error());
  call->answer_object(outcome.status, shown, *renderer);
}

class Writing : public std::enable_shared_from_this<Writing> {
 public:
  Writing(CallPtr call, Plan plan, Done done)
      : call_(std::move(call)),
        plan_(std::move(plan)),
        done_(std::move(done)),
        warnings_(call_->warnings.size()) {}

  void attempt() {
    call_->warnings.resize(warnings_);  // those of the last attempt are said again
    Attempt attempt(*call_, call_->core->store.snapshot());
    attempt.committed = committed_;
    Result<Outcome> outcome = plan_(attempt);
    if (!outcome) return done_(std::move(outcome), nullptr);
    if (!outcome->write) return finish(*std::move(outcome), nullptr);
    store::Write write = *std::move(outcome->write);
    call_->core->store.submit(
        std::move(write), [self = shared_from_this(),
                           outcome = *std::move(outcome)](Result<store::ObjectPtr> stored) mutable {
          // On the commit thread: everything that takes time is left to the exchange's own.
          http::Exchange& exchange = *self->call_->exchange;
          exchange.post([self = std::move(self), outcome = std::move(outcome),
                         stored = std::move(stored)]() mutable {
            self->committed(std::move(outcome), std::move(stored));
          });
        });
  }

 private:
  void committed(Outcome outcome, Result<store::ObjectPtr> stored) {
    if (stored) return finish(std::move(outcome), *stored);
    if (!overtaken(stored.error())) return done_(std::unexpected(stored.error()), nullptr);
    if (call_->core->clock.now() - call_->started > kRequestLimit) {
      return done_(
          std::unexpected(timed_out("request did not complete within the allotted timeout")),
          nullptr);
    }
    attempt();
  }

  void finish(Outcome outcome, const store::ObjectPtr& stored) {
    if (!outcome.next) return done_(std::move(outcome), stored);
    plan_ = std::move(outcome.next);
    committed_ = stored;
    warnings_ = call_->warnings.size();
    attempt();
  }

  const CallPtr call_;
  Plan plan_;
  Done done_;
  store::ObjectPtr committed_;  // by the plan before
  std::size_t warnings_;        // of the call, before this attempt
};

}  // namespace

std::string_view SnapshotView::find(std::string_view group, std::string_view plural,
                                    std::string_view ns, std::string_view name) const {
  const api::Resource* resource = registry_.find_storage(group, plural);
  if (resource == nullptr) return {};
  const store::ObjectPtr object =
      snapshot_->get({resource->id, std::string(ns), std::string(name)});
  return object == nullptr ? std::string_view()
                           : std::string_view(object->bytes());  // the snapshot keeps it
}

std::vector<std::string_view> SnapshotView::list(std::string_view group, std::string_view plural,
                                                 std::string_view ns) const {
  std::vector<std::string_view> out;
  const api::Resource* resource = registry_.find_storage(group, plural);
  if (resource == nullptr) return out;
  snapshot_->scan(resource->id, {ns, "", ""}, [&](const store::ObjectPtr& object) {
    out.push_back(object->bytes());
    return true;
  });
  return out;
}

// Names are in order: those that begin with the prefix follow it.
std::vector<std::string_view> SnapshotView::list_like(std::string_view group,
                                                      std::string_view plural, std::string_view ns,
                                                      const Likeness& likeness) const {
  std::vector<std::string_view> out;
  const api::Resource* resource = registry_.find_storage(group, plural);
  if (resource == nullptr) return out;
  snapshot_->scan(resource->id, {ns, ns, likeness.name_prefix}, [&](const store::ObjectPtr& each) {
    if (!each->name().starts_with(likeness.name_prefix)) return false;
    out.push_back(each->bytes());
    return true;
  });
  return out;
}

Attempt::Attempt(Call& the_call, store::SnapshotPtr the_snapshot)
    : call(the_call),
      snapshot(std::move(the_snapshot)),
      view(snapshot, the_call.core->registry),
      now(the_call.core->clock.now()),
      arena(kUsualArena) {}

admission::Context Attempt::context(admission::Operation operation, bool dry_run) {
  return {.operation = operation,
          .resource = call.resource,
          .subresource = call.info.subresource,
          .ns = call.ns(),
          .name = call.info.name,
          .user = call.user.name,
          .now = now,
          .dry_run = dry_run,
          .view = &view,
          .gates = &call.core->options.gates,
          .warnings = &call.warnings};
}

store::ObjectPtr Attempt::find(const api::Resource& resource, std::string_view ns,
                               std::string_view name) const {
  return snapshot->get(
      {resource.id, resource.namespaced ? std::string(ns) : "", std::string(name)});
}

bool overtaken(const Error& error) {
  return error.code == Code::kConflict || error.code == Code::kAlreadyExists ||
         error.code == Code::kNotFound;
}

void carry_out(const CallPtr& call, Plan plan, Done done) {
  if (call->list != nullptr) return call->list->take(std::move(plan), std::move(done));
  std::make_shared<Writing>(call, std::move(plan), std::move(done))->attempt();
}

void carry_out(const CallPtr& call, Plan plan) {
  carry_out(call, std::move(plan), [call](Result<Outcome> outcome, const store::ObjectPtr& stored) {
    if (!outcome) return call->answer_error(outcome.error());
    answer_outcome(call, *outcome, stored);
  });
}

}  // namespace muster::server
