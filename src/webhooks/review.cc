#include "webhooks/review.h"

#include <vector>

#include "admission/webhook.h"
#include "api/decode/decode.h"
#include "base/base64.h"
#include "json/diff.h"
#include "json/parse.h"
#include "json/write.h"
#include "server/errors.h"

namespace muster::webhooks {
namespace {

using json::Value;

std::unexpected<Error> bad(std::string message) {
  return fail(Code::kBadRequest, std::move(message));
}

Result<Value> parse_request(json::Arena& arena, std::string_view body) {
  MUSTER_TRY(const Value review, json::parse(arena, body));
  const Value request = review.get("request");
  if (review.get("apiVersion").as_string() != "admission.k8s.io/v1" || !request.is_object())
    return bad("this is not an AdmissionReview of admission.k8s.io/v1 with a request");
  if (request.get("uid").as_string().empty()) return bad("the request has no uid");
  return request;
}

// The rules trust the types of built-in kinds, and those of a custom resource that is validated: an
// API server has seen to them.
Status check_types(const Hook& hook, const api::Resource& resource, Value object) {
  json::Arena arena;
  const Value copy = json::clone(arena, object);
  if (!resource.custom) {
    api::DecodeReport report;
    MUSTER_CHECK(api::decode(arena, copy, resource, report));
    return {};
  }
  if (hook.mutates) return {};
  api::FieldErrors errors;
  if (api::validate_schema(copy, *resource.schema, errors)) return {};
  return std::unexpected(errors.to_error(resource, object.get({"metadata", "name"}).as_string()));
}

struct Verdict {
  Status allowed;
  Value patch;  // null if nothing is to be changed
  std::vector<std::string> warnings;
};

Verdict judge(const Hook& hook, admission::Context context, Value object, Value old) {
  Verdict verdict;
  context.warnings = &verdict.warnings;
  if (!hook.mutates) {
    verdict.allowed = admission::validate_by_webhook(context, object, old);
    return verdict;
  }
  const Value before = json::clone(object.arena(), object);
  verdict.allowed = admission::mutate_by_webhook(context, object, old);
  const Value patch = json::make_json_patch(object.arena(), before, object);
  if (verdict.allowed && !patch.empty()) verdict.patch = patch;
  return verdict;
}

std::string write_answer(Value request, const Verdict& verdict) {
  json::Arena arena;
  const Value review = Value::object(arena, 3);
  review.set("kind", "AdmissionReview");
  review.set("apiVersion", "admission.k8s.io/v1");
  const Value response = review.object_at("response");
  response.set("uid", request.get("uid").as_string());
  response.set("allowed", Value::of(verdict.allowed.has_value()));
  if (!verdict.allowed) {
    const auto status = json::parse(arena, server::status_body(verdict.allowed.error()));
    MUSTER_ASSERT(status.has_value(), "a Status that we wrote is JSON");
    response.set("status", *status);
  }
  if (!verdict.patch.is_null()) {
    response.set("patchType", "JSONPatch");
    response.set("patch", encode_base64(json::write(verdict.patch)));
  }
  for (const std::string& warning : verdict.warnings)
    response.array_at("warnings").push_back(Value::string(arena, warning));
  return json::write(review);
}

// What may be asked of this hook: its own resource, and an operation that it is registered for.
Result<admission::Operation> check_operation(const Hook& hook, Value request) {
  const Value resource = request.get("resource");
  if (resource.get("group").as_string() != hook.group ||
      resource.get("version").as_string() != hook.version ||
      resource.get("resource").as_string() != hook.plural ||
      !request.get("subResource").as_string().empty())
    return bad("this webhook is not for that resource");
  const std::string_view operation = request.get("operation").as_string();
  if (!request.get("object").is_object()) return bad("the request has no object");
  if (operation == "CREATE") return admission::Operation::kCreate;
  if (operation == "UPDATE" && hook.on_update && request.get("oldObject").is_object())
    return admission::Operation::kUpdate;
  return bad("this webhook is not for that operation");
}

}  // namespace

Result<std::string> answer_review(const Hook& hook, const Settings& settings,
                                  const Knowledge& knowledge, std::string_view body, Time now) {
  json::Arena arena;
  MUSTER_TRY(const Value request, parse_request(arena, body));
  MUSTER_TRY(const admission::Operation operation, check_operation(hook, request));
  const api::Resource* resource = settings.registry.find(hook.group, hook.version, hook.plural);
  MUSTER_ASSERT(resource != nullptr, "a webhook is for a kind that is known");
  const Value object = request.get("object");
  const Value old = operation == admission::Operation::kUpdate ? request.get("oldObject") : Value();
  Verdict verdict{.allowed = check_types(hook, *resource, object), .patch = {}, .warnings = {}};
  if (verdict.allowed && !old.is_null()) verdict.allowed = check_types(hook, *resource, old);
  if (verdict.allowed) {
    verdict = judge(hook,
                    {.operation = operation,
                     .resource = resource,
                     .subresource = {},
                     .ns = request.get("namespace").as_string(),
                     .name = request.get("name").as_string(),
                     .user = request.get({"userInfo", "username"}).as_string(),
                     .now = now,
                     .dry_run = request.get("dryRun").as_bool(),
                     .queueing = settings.queueing,
                     .view = &knowledge,
                     .gates = &settings.gates},
                    object, old);
  }
  return write_answer(request, verdict);
}

Result<std::string> deny_review(std::string_view body, const Error& error) {
  json::Arena arena;
  MUSTER_TRY(const Value request, parse_request(arena, body));
  return write_answer(request, {.allowed = std::unexpected(error), .patch = {}, .warnings = {}});
}

}  // namespace muster::webhooks
