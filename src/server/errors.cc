#include "server/errors.h"

#include "base/error_code.h"
#include "json/write.h"

namespace muster::server {
namespace {

// Upstream writes `details` for these even when there is nothing to say in it.
bool always_has_details(Code code) {
  switch (code) {
    case Code::kForbidden:
    case Code::kNotFound:
    case Code::kMethodNotAllowed:
    case Code::kAlreadyExists:
    case Code::kConflict:
    case Code::kInvalid:
      return true;
    default:
      return false;
  }
}

Error about(Code code, const api::Resource& resource, std::string_view name, std::string message) {
  return {.code = code,
          .message = std::move(message),
          .name = std::string(name),
          .group = resource.gvk.group,
          .kind = resource.plural};
}

json::Value causes_of(json::Arena& arena, const Error& error) {
  const json::Value causes = json::Value::array(arena, error.causes.size());
  for (const Cause& cause : error.causes) {
    const json::Value entry = json::Value::object(arena, 3);
    if (!cause.reason.empty()) entry.set("reason", cause.reason);
    if (!cause.message.empty()) entry.set("message", cause.message);
    if (!cause.field.empty()) entry.set("field", cause.field);
    causes.push_back(entry);
  }
  return causes;
}

json::Value details_of(json::Arena& arena, const Error& error) {
  const json::Value details = json::Value::object(arena, 6);
  if (!error.name.empty()) details.set("name", error.name);
  if (!error.group.empty()) details.set("group", error.group);
  if (!error.kind.empty()) details.set("kind", error.kind);
  if (!error.uid.empty()) details.set("uid", error.uid);
  if (!error.causes.empty()) details.set("causes", causes_of(arena, error));
  if (error.retry_after_seconds > 0)
    details.set("retryAfterSeconds", json::Value::of(error.retry_after_seconds));
  return details;
}

json::Value empty_status(json::Arena& arena) {
  const json::Value status = json::Value::object(arena, 8);
  status.set("kind", "Status");
  status.set("apiVersion", "v1");
  status.set("metadata", json::Value::object(arena));
  return status;
}

// What upstream's generic layer answers opens with the code and carries empty details.
bool is_generic(const Error& error) {
  return error.message.starts_with("406: ") || error.message.starts_with("415: ");
}

}  // namespace

Error not_found(const api::Resource& resource, std::string_view name) {
  return about(Code::kNotFound, resource, name,
               fmt::format("{} \"{}\" not found", resource.qualified(), name));
}

Error already_exists(const api::Resource& resource, std::string_view name) {
  return about(Code::kAlreadyExists, resource, name,
               fmt::format("{} \"{}\" already exists", resource.qualified(), name));
}

Error conflict(const api::Resource& resource, std::string_view name, std::string_view why) {
  return about(Code::kConflict, resource, name,
               fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", resource.qualified(),
                           name, why));
}

Error modified_meanwhile(const api::Resource& resource, std::string_view name) {
  return conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Error bad_request(std::string message) {
  return {.code = Code::kBadRequest, .message = std::move(message)};
}
Error untranslated(std::string message) {
  return {.code = Code::kUntranslated, .message = std::move(message)};
}
Error container_not_found(std::string_view container) {
  return untranslated(fmt::format("container not found (\"{}\")", container));
}

Error invalid_version(std::string_view text, const Error& why) {
  return untranslated(fmt::format("resourceVersion: Invalid value: \"{}\": {}", text, why.message));
}

Error invalid_list_version(std::string_view text, const Error& why) {
  return bad_request("invalid resource version: " + invalid_version(text, why).message);
}

Error too_many_requests() {
  Error error{.code = Code::kTooManyRequests,
              .message = "Too many requests, please try again later."};
  error.retry_after_seconds = 1;
  return error;
}

Error timed_out(std::string message) {
  return {.code = Code::kTimeout, .message = "Timeout: " + message};
}

Error unknown_path() {
  return {.code = Code::kNotFound, .message = "the server could not find the requested resource"};
}

Error method_not_allowed() {
  return {.code = Code::kMethodNotAllowed,
          .message = "the server does not allow this method on the requested resource"};
}

int http_status(Code code) { return facts_of(code).http_status; }
std::string_view reason(Code code) { return facts_of(code).reason; }

std::string status_body(const Error& error, std::string_view continue_token) {
  json::Arena arena;
  const ErrorCode& known = facts_of(error.code);
  const json::Value status = empty_status(arena);
  if (!continue_token.empty()) status.get("metadata").set("continue", continue_token);
  status.set("status", "Failure");
  if (!error.message.empty()) status.set("message", error.message);
  if (!known.reason.empty()) status.set("reason", known.reason);
  const json::Value details = details_of(arena, error);
  if (!details.empty() || always_has_details(error.code) || is_generic(error))
    status.set("details", details);
  status.set("code", json::Value::of(known.http_status));
  return json::write(status) + "\n";
}

std::string success_body(int code) {
  json::Arena arena;
  const json::Value status = empty_status(arena);
  status.set("status", "Success");
  if (code != 0) status.set("code", json::Value::of(code));
  return json::write(status) + "\n";
}

std::string deleted_body(const api::Resource& resource, std::string_view name,
                         std::string_view uid) {
  json::Arena arena;
  const json::Value status = empty_status(arena);
  status.set("status", "Success");
  const json::Value details = json::Value::object(arena, 4);
  details.set("name", name);
  if (!resource.gvk.group.empty()) details.set("group", resource.gvk.group);
  details.set("kind", resource.plural);
  details.set("uid", uid);
  status.set("details", details);
  return json::write(status) + "\n";
}

}  // namespace muster::server
