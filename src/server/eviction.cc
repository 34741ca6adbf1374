// pods/eviction: a delete that asks the disruption budgets first.
#include "api/values/selector.h"
#include "api/views/pod_phase.h"
#include "json/parse.h"
#include "server/delete_plan.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/render.h"

namespace muster::server {
namespace {

constexpr int kRetryUnobserved = 10;  // seconds, until the budget's controller will have looked
constexpr std::size_t kMaxDisruptedPods = 2'000;  // upstream's bound on status.disruptedPods

struct Eviction {
  DeleteOptions options;
  bool dry_run = false;
};

Error refused(std::string cause, int retry_after) {
  Error error{.code = Code::kTooManyRequests,
              .message = "Cannot evict pod as it would violate the pod's disruption budget."};
  error.causes.push_back({"DisruptionBudget", std::move(cause), ""});
  error.retry_after_seconds = retry_after;
  return error;
}

// Such pods are in nobody's way: budgets do not count them.
bool needs_no_budget(json::Value pod) {
  const std::string_view phase = pod.get({"status", "phase"}).as_string();
  return api::is_end_phase(phase) || phase == "Pending" ||
         !pod.get({"metadata", "deletionTimestamp"}).is_null();
}

bool is_ready(json::Value pod) {
  for (const json::Value condition : pod.get({"status", "conditions"}).items()) {
    if (condition.get("type").as_string() == "Ready")
      return condition.get("status").as_string() == "True";
  }
  return false;
}

std::vector<store::ObjectPtr> budgets_of(Attempt& attempt, json::Value pod,
                                         const api::Resource& budgets) {
  std::vector<store::ObjectPtr> out;
  attempt.snapshot->scan(budgets.id, {attempt.call.info.ns, "", ""},
                         [&](const store::ObjectPtr& object) {
                           const json::Value budget = tree_of(attempt.arena, *object, budgets);
                           const Result<api::LabelSelector> selector =
                               api::LabelSelector::from_object(budget.get({"spec", "selector"}));
                           if (selector && selector->matches(pod.get({"metadata", "labels"})))
                             out.push_back(object);
                           return true;
                         });
  return out;
}

// The condition that tells others that the budget is used up.
void forbid_disruptions(json::Value budget, Time now) {
  const json::Value conditions = budget.object_at("status").array_at("conditions");
  json::Value found;
  for (const json::Value condition : conditions.items()) {
    if (condition.get("type").as_string() == "DisruptionAllowed") found = condition;
  }
  if (found.is_null()) {
    found = json::Value::object(budget.arena());
    found.set("type", "DisruptionAllowed");
    found.set("message", "");
    conditions.push_back(found);
  }
  if (found.get("status").as_string() != "False") found.set("lastTransitionTime", format_time(now));
  found.set("status", "False");
  found.set("observedGeneration", budget.get({"metadata", "generation"}));
  found.set("reason", "InsufficientPods");
}

// Takes one disruption out of the budget; kTooManyRequests if there is none left.
Status take_from_budget(json::Value budget, std::string_view pod, Time now) {
  const std::string_view name = budget.get({"metadata", "name"}).as_string();
  const json::Value status = budget.object_at("status");
  if (status.get("observedGeneration").as_int() < budget.get({"metadata", "generation"}).as_int()) {
    return std::unexpected(refused(
        fmt::format("The disruption budget {} is still being processed by the server.", name),
        kRetryUnobserved));
  }
  const std::int64_t allowed = status.get("disruptionsAllowed").as_int();
  if (allowed <= 0) {
    return std::unexpected(refused(
        fmt::format("The disruption budget {} needs {} healthy pods and has {} currently", name,
                    status.get("desiredHealthy").as_int(), status.get("currentHealthy").as_int()),
        0));
  }
  if (status.get("disruptedPods").size() > kMaxDisruptedPods) {
    return std::unexpected(refused(
        "DisruptedPods map too big - too many evictions not confirmed by PDB controller", 0));
  }
  status.set("disruptionsAllowed", json::Value::of(allowed - 1));
  if (allowed == 1) forbid_disruptions(budget, now);
  status.object_at("disruptedPods").set(pod, format_time(now));
  return {};
}

// The pod tells its owner why it goes.
void add_disruption_target(json::Value pod, Time now) {
  const json::Value conditions = pod.object_at("status").array_at("conditions");
  for (const json::Value condition : conditions.items()) {
    if (condition.get("type").as_string() == "DisruptionTarget") return;
  }
  const json::Value condition = json::Value::object(pod.arena());
  condition.set("type", "DisruptionTarget");
  condition.set("status", "True");
  condition.set("lastTransitionTime", format_time(now));
  condition.set("reason", "EvictionByEvictionAPI");
  condition.set("message", "Eviction API: evicting");
  conditions.push_back(condition);
}

Result<Eviction> read_eviction(Attempt& attempt) {
  const Call& call = attempt.call;
  MUSTER_TRY(const WriteOptions options, parse_write_options(call.info.query, "CreateOptions"));
  const BodyKind kind{call.subresource->response_kind,
                      call.core->registry.type("io.k8s.api.policy.v1.Eviction"), false};
  MUSTER_TRY(const json::Value body,
             decode_body(attempt.arena, call.request(), kind, call.core->registry,
                         {options.validation, &attempt.call.warnings}));
  const std::string_view name = body.get({"metadata", "name"}).as_string();
  if (!name.empty() && name != call.info.name) {
    return std::unexpected(bad_request("name in URL does not match name in Eviction object"));
  }
  Eviction eviction;
  MUSTER_TRY(eviction.options, read_delete_options(body.get("deleteOptions")));
  eviction.dry_run = options.dry_run || eviction.options.dry_run;
  eviction.options.dry_run = eviction.dry_run;
  return eviction;
}

Result<Outcome> plan_pod_removal(Attempt& attempt, const Eviction& eviction) {
  const Call& call = attempt.call;
  const api::Resource& pods = *call.resource;
  const Time now = attempt.now;
  const DeleteTarget target{call.info.ns, call.info.name,
                            [now](json::Value pod) { add_disruption_target(pod, now); }};
  MUSTER_TRY(Outcome outcome, plan_delete(attempt, pods, target, eviction.options));
  outcome.status = 201;
  outcome.body = success_body(201);
  if (outcome.next) {
    outcome.next = [next = std::move(outcome.next)](Attempt& again) -> Result<Outcome> {
      MUSTER_TRY(Outcome removed, next(again));
      removed.status = 201;
      removed.body = success_body(201);
      return removed;
    };
  }
  return outcome;
}

Result<Outcome> plan_eviction(Attempt& attempt) {
  const Call& call = attempt.call;
  const api::Resource& pods = *call.resource;
  const api::Resource& budgets = *call.core->registry.find("policy", "v1", "poddisruptionbudgets");
  MUSTER_TRY(const Eviction eviction, read_eviction(attempt));
  const store::ObjectPtr live = attempt.find(pods, call.info.ns, call.info.name);
  if (live == nullptr) return std::unexpected(not_found(pods, call.info.name));
  const json::Value pod = tree_of(attempt.arena, *live, pods);
  if (needs_no_budget(pod)) return plan_pod_removal(attempt, eviction);

  const std::vector<store::ObjectPtr> matching = budgets_of(attempt, pod, budgets);
  if (matching.size() > 1) {
    return std::unexpected(
        untranslated("This pod has more than one PodDisruptionBudget, which the eviction "
                     "subresource does not support."));
  }
  if (matching.empty()) return plan_pod_removal(attempt, eviction);
  const store::ObjectPtr& held = matching.front();
  const json::Value budget = tree_of(attempt.arena, *held, budgets);
  // A pod that is not ready disrupts nobody who is still short of healthy ones.
  const bool unhealthy_goes =
      budget.get({"spec", "unhealthyPodEvictionPolicy"}).as_string() == "AlwaysAllow" ||
      budget.get({"status", "currentHealthy"}).as_int() >=
          budget.get({"status", "desiredHealthy"}).as_int();
  if (!is_ready(pod) && unhealthy_goes && budget.get({"status", "desiredHealthy"}).as_int() > 0) {
    return plan_pod_removal(attempt, eviction);
  }
  const json::Value before = json::clone(attempt.arena, budget);
  MUSTER_CHECK(take_from_budget(budget, call.info.name, attempt.now));
  fields::track_update(attempt.arena, {"kube-apiserver", "status", &budgets, attempt.now}, before,
                       budget);
  if (eviction.dry_run) return plan_pod_removal(attempt, eviction);
  Outcome outcome;
  MUSTER_TRY(outcome.write, put_write(attempt.arena, budget, budgets, held->revision()));
  outcome.next = [eviction](Attempt& next) { return plan_pod_removal(next, eviction); };
  return outcome;
}

}  // namespace

void evict_pod(const CallPtr& call) { carry_out(call, plan_eviction); }

}  // namespace muster::server
