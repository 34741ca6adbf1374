// POST of a collection.
#include "server/errors.h"
#include "server/handlers.h"
#include "server/object_write.h"

namespace muster::server {
namespace {

// The second half of creating a namespace: its service account "default".
Result<Outcome> plan_default_account(Attempt& attempt, const std::string& ns) {
  const api::Registry& registry = attempt.call.core->registry;
  const api::Resource& accounts = *registry.find("", "v1", "serviceaccounts");
  const api::Resource& namespaces = *registry.find("", "v1", "namespaces");
  Outcome outcome{.status = 201,
                  .write = {},
                  .shown = attempt.find(namespaces, "", ns),
                  .body = {},
                  .next = {}};
  if (outcome.shown == nullptr)
    return std::unexpected(not_found(namespaces, ns));  // deleted again already
  if (attempt.find(accounts, ns, "default") != nullptr) return outcome;
  const json::Value account = json::Value::object(attempt.arena);
  account.set("kind", "ServiceAccount");
  account.set("apiVersion", "v1");
  const json::Value metadata = account.object_at("metadata");
  metadata.set("name", "default");
  metadata.set("namespace", ns);
  metadata.set("uid", attempt.call.core->new_uid());
  metadata.set("creationTimestamp", format_time(attempt.now));
  MUSTER_TRY(outcome.write, put_write(attempt.arena, account, accounts, 0));
  return outcome;
}

Result<Outcome> plan_create(Attempt& attempt, const WriteOptions& options,
                            const Tracking& tracking) {
  const Call& call = attempt.call;
  MUSTER_TRY(const json::Value object,
             decode_body(attempt.arena, call.request(), BodyKind::of(*call.resource),
                         call.core->registry, {options.validation, &attempt.call.warnings}));
  MUSTER_TRY(Outcome outcome, create_from(attempt, object, options, tracking));
  const bool is_namespace =
      call.resource->gvk.group.empty() && call.resource->plural == "namespaces";
  if (is_namespace && outcome.write && call.core->options.default_service_accounts) {
    outcome.next = [ns = outcome.write->key.name](Attempt& next) {
      return plan_default_account(next, ns);
    };
  }
  return outcome;
}

}  // namespace

void create_object(const CallPtr& call) {
  const Result<WriteOptions> options = parse_write_options(call->info.query, "CreateOptions");
  if (!options) return call->answer_error(options.error());
  const Result<Tracking> tracking = tracking_of(*call, *options);
  if (!tracking) return call->answer_error(tracking.error());
  carry_out(call, [options = *options, tracking = *tracking](Attempt& attempt) {
    return plan_create(attempt, options, tracking);
  });
}

}  // namespace muster::server
