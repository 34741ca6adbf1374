// Kinds that are asked and answered, never stored: who am I, may I, may he, whose token is this.
#include "api/decode/decode.h"
#include "json/write.h"
#include "server/authentication.h"
#include "server/authorization.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/object_write.h"
#include "server/service_account_token.h"

namespace muster::server {
namespace {

json::Value string_list(json::Arena& arena, const std::vector<std::string>& texts) {
  const json::Value list = json::Value::array(arena, texts.size());
  for (const std::string& text : texts) list.push_back(json::Value::string(arena, text));
  return list;
}

json::Value user_info(json::Arena& arena, const User& user) {
  const json::Value out = json::Value::object(arena);
  out.set("username", user.name);
  if (!user.uid.empty()) out.set("uid", user.uid);
  if (!user.groups.empty()) out.set("groups", string_list(arena, user.groups));
  for (const auto& [key, values] : user.extra)
    out.object_at("extra").set(key, string_list(arena, values));
  return out;
}

// --- Access reviews ---

Status check_attributes(json::Value spec) {
  const bool resource = !spec.get("resourceAttributes").is_null();
  const bool path = !spec.get("nonResourceAttributes").is_null();
  if (resource != path) return {};
  api::FieldErrors errors;
  errors.invalid(
      api::Path(resource ? "spec.nonResourceAttributes" : "spec.resourceAttributes"), json::Value(),
      resource ? "cannot be specified in combination with resourceAttributes"
               : "exactly one of nonResourceAttributes or resourceAttributes must be specified");
  return std::unexpected(errors.to_error(".authorization.k8s.io", "authorization.k8s.io", "", ""));
}

Attributes attributes_of(json::Value spec) {
  const auto text = [](json::Value from, std::string_view key) {
    return std::string(from.get(key).as_string());
  };
  if (const json::Value path = spec.get("nonResourceAttributes"); path.is_object()) {
    Attributes wanted;
    wanted.verb = text(path, "verb");
    wanted.path = text(path, "path");
    return wanted;
  }
  const json::Value resource = spec.get("resourceAttributes");
  return {.verb = text(resource, "verb"),
          .path = {},
          .group = text(resource, "group"),
          .resource = text(resource, "resource"),
          .subresource = text(resource, "subresource"),
          .ns = text(resource, "namespace"),
          .name = text(resource, "name")};
}

Status check_subject(json::Value review, const Call& call) {
  const json::Value spec = review.get("spec");
  if (spec.get("user").as_string().empty() && spec.get("groups").empty()) {
    api::FieldErrors errors;
    errors.invalid(api::Path("spec.user"), "", "at least one of user or group must be specified");
    return std::unexpected(
        errors.to_error(".authorization.k8s.io", "authorization.k8s.io", "", ""));
  }
  if (call.resource->namespaced &&
      spec.get({"resourceAttributes", "namespace"}).as_string() != call.info.ns) {
    return std::unexpected(bad_request(
        fmt::format("spec.resourceAttributes.namespace must match namespace: {}", call.info.ns)));
  }
  return {};
}

User subject_of(json::Value spec) {
  User user{.name = std::string(spec.get("user").as_string()),
            .uid = std::string(spec.get("uid").as_string()),
            .groups = {},
            .extra = {}};
  for (const json::Value group : spec.get("groups").items())
    user.groups.emplace_back(group.as_string());
  return user;
}

Status review_access(json::Value review, const Call& call, bool self) {
  const json::Value spec = review.get("spec");
  MUSTER_CHECK(check_attributes(spec));
  if (!self) MUSTER_CHECK(check_subject(review, call));
  const Verdict verdict =
      authorize(*call.core, self ? call.user : subject_of(spec), attributes_of(spec));
  const json::Value status = review.object_at("status");
  status.set("allowed", json::Value::of(verdict.allowed));
  if (!verdict.reason.empty()) status.set("reason", verdict.reason);
  return {};
}

// --- Rules ---

void review_rules(json::Value review, const Call& call) {
  json::Arena& arena = review.arena();
  const std::string ns(review.get({"spec", "namespace"}).as_string());
  const json::Value resource_rules = json::Value::array(arena);
  const json::Value path_rules = json::Value::array(arena);
  for (const PolicyRule& rule : rules_for(*call.core, call.user, ns)) {
    const json::Value out = json::Value::object(arena);
    out.set("verbs", string_list(arena, rule.verbs));
    if (!rule.paths.empty()) {
      out.set("nonResourceURLs", string_list(arena, rule.paths));
      path_rules.push_back(out);
      continue;
    }
    out.set("apiGroups", string_list(arena, rule.groups));
    out.set("resources", string_list(arena, rule.resources));
    if (!rule.names.empty()) out.set("resourceNames", string_list(arena, rule.names));
    resource_rules.push_back(out);
  }
  // Upstream answers with a fresh object, not with the one that was sent.
  review.set("metadata", json::Value::object(arena));
  review.set("spec", json::Value::object(arena));
  const json::Value status = review.object_at("status");
  status.set("resourceRules", resource_rules);
  status.set("nonResourceRules", path_rules);
  status.set("incomplete", json::Value::of(false));
}

// --- Identity ---

void review_self(json::Value review, const Call& call) {
  json::Arena& arena = review.arena();
  review.set("metadata", json::Value::object(arena));
  review.get("metadata").set("creationTimestamp", format_time(call.core->clock.now()));
  review.object_at("status").set("userInfo", user_info(arena, call.user));
}

Status review_token(json::Value review, const Call& call) {
  json::Arena& arena = review.arena();
  const std::string_view token = review.get({"spec", "token"}).as_string();
  if (token.empty())
    return std::unexpected(bad_request("token is required for TokenReview in authentication"));
  const json::Value status = review.object_at("status");
  const std::optional<User> user = user_of_token(*call.core, token);
  if (!user) {
    status.set("error", "invalid bearer token");
    return {};
  }
  status.set("authenticated", json::Value::of(true));
  status.set("user", user_info(arena, *user));
  status.set("audiences", string_list(arena, {std::string(kTokenIssuer)}));
  return {};
}

Status fill_in(json::Value review, const Call& call) {
  const std::string& kind = call.resource->gvk.kind;
  if (kind == "SelfSubjectReview") {
    review_self(review, call);
  } else if (kind == "SelfSubjectRulesReview") {
    review_rules(review, call);
  } else if (kind == "TokenReview") {
    return review_token(review, call);
  } else {
    return review_access(review, call, kind == "SelfSubjectAccessReview");
  }
  return {};
}

Result<Outcome> plan_review(Attempt& attempt, const WriteOptions& options,
                            const Tracking& tracking) {
  const Call& call = attempt.call;
  const api::Resource& resource = *call.resource;
  MUSTER_TRY(const json::Value review,
             decode_body(attempt.arena, call.request(), BodyKind::of(resource), call.core->registry,
                         {options.validation, &attempt.call.warnings}));
  if (resource.namespaced) review.object_at("metadata").set("namespace", call.info.ns);
  fields::track_update(attempt.arena, writer_of(attempt, tracking), json::Value(), review);
  MUSTER_CHECK(fill_in(review, call));
  api::DecodeReport report;
  MUSTER_TRY(const json::Value answer, api::decode(attempt.arena, review, resource, report));
  Outcome outcome;
  outcome.status = 201;
  outcome.body = json::write(answer) + "\n";
  return outcome;
}

}  // namespace

void create_review(const CallPtr& call) {
  const Result<WriteOptions> options = parse_write_options(call->info.query, "CreateOptions");
  if (!options) return call->answer_error(options.error());
  carry_out(call, [options = *options, tracking = tracking_of(*call, *options)](Attempt& attempt) {
    return plan_review(attempt, options, tracking);
  });
}

}  // namespace muster::server
