// POST of a collection.
#include "server/handlers.h"
#include "server/object_write.h"
#include "server/render.h"

namespace muster::server {
namespace {

constexpr std::string_view kOwnManager = "kube-apiserver";

void add_condition(json::Value conditions, std::string_view type, std::string_view reason,
                   std::string_view message, Time now) {
  const json::Value condition = json::Value::object(conditions.arena());
  condition.set("type", type);
  condition.set("status", "True");
  condition.set("lastTransitionTime", format_time(now));
  condition.set("reason", reason);
  condition.set("message", message);
  conditions.push_back(condition);
}

// The second half of creating the definition of a kind that is served already: it is established.
Result<Outcome> plan_established(Attempt& attempt) {
  const api::Resource& definitions = *attempt.call.resource;
  Outcome outcome{.status = 201, .write = {}, .shown = attempt.committed, .body = {}, .next = {}};
  const store::ObjectPtr live = attempt.find(definitions, "", attempt.committed->meta().name);
  if (live == nullptr || live->meta().uid != attempt.committed->meta().uid) return outcome;
  const json::Value old = tree_of(attempt.arena, *live, definitions);
  const json::Value object = json::clone(attempt.arena, old);
  const json::Value status = object.object_at("status");
  status.set("acceptedNames", object.get({"spec", "names"}));
  const json::Value conditions = json::Value::array(attempt.arena);
  add_condition(conditions, "NamesAccepted", "NoConflicts", "no conflicts found", attempt.now);
  add_condition(conditions, "Established", "InitialNamesAccepted",
                "the initial names have been accepted", attempt.now);
  status.set("conditions", conditions);
  fields::track_update(attempt.arena, {kOwnManager, "status", &definitions, attempt.now}, old,
                       object);
  MUSTER_TRY(outcome.write, put_write(attempt.arena, object, definitions, live->revision()));
  return outcome;
}

bool defines_served_kind(const api::Registry& registry, json::Value definition) {
  const api::Resource* found =
      registry.find_storage(definition.get({"spec", "group"}).as_string(),
                            definition.get({"spec", "names", "plural"}).as_string());
  return found != nullptr && found->custom;
}

// What the server itself does when an object of the kind has been stored; empty for most.
Plan sequel_of(const Call& call, json::Value object) {
  const bool definition =
      call.resource->qualified() == "customresourcedefinitions.apiextensions.k8s.io";
  if (definition && defines_served_kind(call.core->registry, object)) return plan_established;
  return nullptr;
}

Result<Outcome> plan_create(Attempt& attempt, const WriteOptions& options,
                            const Tracking& tracking) {
  const Call& call = attempt.call;
  MUSTER_TRY(const json::Value object,
             decode_body(attempt.arena, call.request(), BodyKind::of(*call.resource),
                         call.core->registry, {options.validation, &attempt.call.warnings}));
  MUSTER_TRY(Outcome outcome, create_from(attempt, object, options, tracking));
  if (outcome.write) outcome.next = sequel_of(call, object);
  return outcome;
}

}  // namespace

void create_object(const CallPtr& call) {
  const Result<WriteOptions> options = parse_write_options(call->info.query, "CreateOptions");
  if (!options) return call->answer_error(options.error());
  carry_out(call, [options = *options, tracking = tracking_of(*call, *options)](Attempt& attempt) {
    return plan_create(attempt, options, tracking);
  });
}

}  // namespace muster::server
