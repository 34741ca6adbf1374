// serviceaccounts/token.
#include "json/write.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/object_write.h"
#include "server/service_account_token.h"

namespace muster::server {
namespace {

constexpr std::int64_t kDefaultSeconds = 3'600;
constexpr std::int64_t kMinSeconds = 600;
constexpr std::int64_t kMaxSeconds = std::int64_t{1} << 32;

Status validate_spec(json::Value request, std::string_view name) {
  api::FieldErrors errors;
  const api::Path path("spec.expirationSeconds");
  const json::Value seconds = request.get({"spec", "expirationSeconds"});
  if (seconds.as_int() < kMinSeconds)
    errors.invalid(path, seconds, "may not specify a duration less than 10 minutes");
  if (seconds.as_int() > kMaxSeconds)
    errors.invalid(path, seconds, "may not specify a duration larger than 2^32 seconds");
  if (errors.empty()) return {};
  return std::unexpected(errors.to_error("TokenRequest.authentication.k8s.io",
                                         "authentication.k8s.io", "TokenRequest", name));
}

void default_audiences(json::Value spec) {
  if (!spec.get("audiences").empty()) return;
  const json::Value audiences = json::Value::array(spec.arena());
  audiences.push_back(json::Value::view(kTokenIssuer));
  spec.set("audiences", audiences);
}

std::vector<std::string> audiences_of(json::Value spec) {
  std::vector<std::string> out;
  for (const json::Value audience : spec.get("audiences").items())
    out.emplace_back(audience.as_string());
  return out;
}

// Decoding does not tell an empty list from none; the body does.
bool sends_audiences(Attempt& attempt) {
  Looseness ignored;
  const Result<json::Value> sent = parse_body(attempt.arena, attempt.call.request(), false,
                                              attempt.call.core->registry, ignored);
  return sent && sent->get({"spec", "audiences"}).is_array();
}

Result<Outcome> plan_token(Attempt& attempt, const WriteOptions& options,
                           const Tracking& tracking) {
  const Call& call = attempt.call;
  Core& core = *call.core;
  const BodyKind kind = BodyKind::of(core.token_requests);
  MUSTER_TRY(const json::Value request,
             decode_body(attempt.arena, call.request(), kind, core.registry,
                         {options.validation, &attempt.call.warnings}));
  const store::ObjectPtr account = attempt.find(*call.resource, call.info.ns, call.info.name);
  if (account == nullptr) return std::unexpected(not_found(*call.resource, call.info.name));
  const json::Value spec = request.object_at("spec");
  if (spec.get("expirationSeconds").is_null())
    spec.set("expirationSeconds", json::Value::of(kDefaultSeconds));
  MUSTER_CHECK(validate_spec(request, call.info.name));
  const json::Value metadata = request.object_at("metadata");
  metadata.set("name", call.info.name);
  metadata.set("namespace", call.info.ns);
  metadata.set("uid", account->meta().uid);
  metadata.set("creationTimestamp", format_time(attempt.now));
  // Whoever sends a list of audiences owns it, even if it is empty and the server fills it.
  const bool chosen = sends_audiences(attempt);
  if (chosen) default_audiences(spec);
  fields::track_update(attempt.arena,
                       {tracking.manager, call.info.subresource, &core.token_requests, attempt.now},
                       json::Value(), request);
  if (!chosen) default_audiences(spec);
  if (!spec.has("boundObjectRef")) spec.set("boundObjectRef", json::Value());
  const Time expires = attempt.now + std::chrono::seconds(spec.get("expirationSeconds").as_int());
  const json::Value status = request.object_at("status");
  status.set("token", options.dry_run ? ""
                                      : sign(core, {.ns = call.info.ns,
                                                    .name = call.info.name,
                                                    .uid = account->meta().uid,
                                                    .id = core.new_uid(),
                                                    .audiences = audiences_of(spec),
                                                    .issued = attempt.now,
                                                    .expires = expires}));
  status.set("expirationTimestamp", format_time(expires));
  Outcome outcome;
  outcome.status = 201;
  outcome.body = json::write(request) + "\n";
  return outcome;
}

}  // namespace

void create_token(const CallPtr& call) {
  if (call->core->options.sign_token == nullptr) {
    return call->answer_error(
        {.code = Code::kUnavailable, .message = "this server signs no tokens of service accounts"});
  }
  const Result<WriteOptions> options = parse_write_options(call->info.query, "CreateOptions");
  if (!options) return call->answer_error(options.error());
  carry_out(call, [options = *options, tracking = tracking_of(*call, *options)](Attempt& attempt) {
    return plan_token(attempt, options, tracking);
  });
}

}  // namespace muster::server
