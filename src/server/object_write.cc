#include "server/object_write.h"

#include <algorithm>
#include <array>

#include "api/versions/convert.h"
#include "base/rng.h"
#include "server/canonical.h"
#include "server/errors.h"
#include "server/render.h"

namespace muster::server {
namespace {

// Upstream cuts the given part of a generated name so that the whole fits a label.
constexpr std::size_t kMaxGeneratedBase = 58;
constexpr int kNameAttempts = 8;

Status check_namespace(json::Value metadata, const Call& call) {
  const std::string_view sent = metadata.get("namespace").as_string();
  if (!call.resource->namespaced) {
    metadata.erase("namespace");
    return {};
  }
  if (sent.empty()) {
    metadata.set("namespace", call.info.ns);
    return {};
  }
  if (sent == call.info.ns) return {};
  return std::unexpected(bad_request(
      "the namespace of the provided object does not match the namespace sent on the request"));
}

Status check_name(json::Value metadata, const Call& call) {
  const std::string_view sent = metadata.get("name").as_string();
  if (sent == call.info.name) return {};
  if (sent.empty()) {
    return std::unexpected(bad_request(fmt::format(
        "the name of the object ({} based on URL) was undeterminable: name must be provided",
        call.info.name)));
  }
  return std::unexpected(
      bad_request(fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                              sent, call.info.name)));
}

void wipe_system_fields(json::Value metadata) {
  for (const std::string_view field : {"uid", "creationTimestamp", "deletionTimestamp",
                                       "deletionGracePeriodSeconds", "selfLink"}) {
    metadata.erase(field);
  }
}

// Gives the object a name that is free, if it only has the beginning of one.
Status settle_name(Attempt& attempt, json::Value metadata) {
  if (!metadata.get("name").as_string().empty()) return {};
  std::string_view base = metadata.get("generateName").as_string();
  if (base.empty()) return {};  // validation says so
  base = base.substr(0, kMaxGeneratedBase);
  std::string name;
  for (int i = 0; i < kNameAttempts; ++i) {
    name = fmt::format("{}{}", base, attempt.call.core->name_suffix());
    if (attempt.find(*attempt.call.resource, attempt.call.info.ns, name) == nullptr) {
      metadata.set("name", name);
      return {};
    }
  }
  Error error = already_exists(*attempt.call.resource, name);
  error.message += ", the server was not able to generate a unique name for the object";
  error.retry_after_seconds = 1;
  return std::unexpected(std::move(error));
}

Status check_absent(const Attempt& attempt, std::string_view name) {
  const api::Resource& resource = *attempt.call.resource;
  const store::ObjectPtr live = attempt.find(resource, attempt.call.info.ns, name);
  if (live == nullptr) return {};
  Error error = already_exists(resource, name);
  if (live->meta().deletion_time) error.message = "object is being deleted: " + error.message;
  return std::unexpected(std::move(error));
}

// A uid in the body of a PUT must be that of the object.
Status check_uid(const Attempt& attempt, json::Value object, const store::Object& live) {
  const std::string_view sent = object.get({"metadata", "uid"}).as_string();
  if (sent.empty() || sent == live.meta().uid) return {};
  const api::Resource& resource = *attempt.call.resource;
  const std::string key = resource.namespaced
                              ? fmt::format("{}/{}", attempt.call.info.ns, attempt.call.info.name)
                              : attempt.call.info.name;
  return std::unexpected(
      conflict(resource, attempt.call.info.name,
               fmt::format("StorageError: invalid object, Code: 4, Key: /registry/{}/{}, "
                           "ResourceVersion: 0, AdditionalErrorMsg: "
                           "Precondition failed: UID in precondition: {}, UID in object meta: {}",
                           resource.plural, key, sent, live.meta().uid)));
}

Status check_version(const Attempt& attempt, json::Value object, const store::Object& live,
                     const UpdateRules& rules) {
  const api::Resource& resource = *attempt.call.resource;
  const std::string& name = attempt.call.info.name;
  const std::string_view sent = object.get({"metadata", "resourceVersion"}).as_string();
  if (sent.empty() || sent == "0") {
    if (resource.unconditional_update || !rules.sent_whole) return {};
    api::FieldErrors errors;
    errors.invalid(api::Path("metadata.resourceVersion"), json::Value::of(0),
                   "must be specified for an update");
    return std::unexpected(
        errors.to_error(resource.qualified(), resource.gvk.group, resource.plural, name));
  }
  const Result<std::uint64_t> version = parse_version(sent);
  if (!version) return std::unexpected(untranslated(version.error().message));
  if (*version != live.revision()) return std::unexpected(modified_meanwhile(resource, name));
  return {};
}

// Drops managedFields from an object that is too large with them (not of those who apply: they need
// them).
Result<store::Write> fitting_write(Attempt& attempt, json::Value object, const Tracking& tracking,
                                   const store::Object* live, std::size_t limit) {
  const api::Resource& resource = *attempt.call.resource;
  const store::Revision expected = live == nullptr ? 0 : live->revision();
  MUSTER_TRY(store::Write write, put_write(attempt.arena, object, resource, expected, live));
  if (check_size(write, limit)) return write;
  if (!tracking.done && object.get("metadata").erase("managedFields")) {
    MUSTER_TRY(write, put_write(attempt.arena, object, resource, expected, live));
  }
  MUSTER_CHECK(check_size(write, limit));
  return write;
}

// What the system does with an object that is as large as it may be: report its state, scale it,
// let it go.
bool may_use_reserve(std::string_view subresource, json::Value old, json::Value object) {
  if (subresource == "status" || subresource == "finalize" || subresource == "scale") return true;
  const json::Value before = old.get("metadata");
  return !before.get("deletionTimestamp").is_null() ||
         object.get({"metadata", "finalizers"}).size() < before.get("finalizers").size();
}

// An object that its status has made longer than clients may can still be changed by them, but does
// not grow.
std::size_t limit_of_update(const Call& call, const store::Object& live, json::Value old,
                            json::Value object) {
  if (may_use_reserve(call.info.subresource, old, object)) return kMaxStoredBytes + kReservedBytes;
  return std::max(kMaxStoredBytes, live.bytes().size());
}

// Nothing holds the object any more: no finalizers, no time of grace.
bool ready_to_go(json::Value object, const api::Resource& resource) {
  const json::Value metadata = object.get("metadata");
  if (metadata.get("deletionTimestamp").is_null() || !metadata.get("finalizers").empty())
    return false;
  const bool is_namespace = resource.gvk.group.empty() && resource.plural == "namespaces";
  if (is_namespace && !object.get({"spec", "finalizers"}).empty()) return false;
  return metadata.get("deletionGracePeriodSeconds").as_int() == 0;
}

// As stored: converted to the storage version and in canonical form. The object's resourceVersion
// is not kept. `live` is the object until now, or a null pointer.
Result<json::Value> stored_form(json::Arena& arena, json::Value object,
                                const api::Resource& resource, const store::Object* live) {
  if (resource.storage == &resource) return canonical(arena, object, resource);
  const json::Value copy = json::clone(arena, object);
  const json::Value before =
      live == nullptr ? json::Value() : tree_of(arena, *live, *resource.storage);
  api::to_storage(copy, resource, before);
  return canonical(arena, copy, *resource.storage);
}

}  // namespace

Tracking tracking_of(const Call& call, const WriteOptions& options) {
  return {fields::manager_name(options.field_manager, call.header("User-Agent"))};
}

fields::Writer writer_of(const Attempt& attempt, const Tracking& tracking) {
  return {tracking.manager, attempt.call.info.subresource, attempt.call.resource, attempt.now};
}

Status check_size(const store::Write& write, std::size_t limit) {
  if (write.head.size() + write.tail.size() <= limit) return {};
  return fail(Code::kTooLarge,
              fmt::format("Request entity too large: limit is {}", kMaxStoredBytes));
}

store::ObjectPtr shown(std::string text, store::Revision revision) {
  return std::make_shared<store::Object>(std::move(text), revision);
}

Result<store::Write> put_write(json::Arena& arena, json::Value object,
                               const api::Resource& resource, store::Revision expected,
                               const store::Object* live) {
  MUSTER_TRY(const json::Value stored, stored_form(arena, object, resource, live));
  Gapped text = with_gap(stored);
  const json::Value metadata = stored.get("metadata");
  return store::Write{
      .op = store::Write::Op::kPut,
      .key = {resource.id,
              resource.namespaced ? std::string(metadata.get("namespace").as_string()) : "",
              std::string(metadata.get("name").as_string())},
      .expected = expected,
      .head = std::move(text.head),
      .tail = std::move(text.tail)};
}

store::Write delete_write(const store::Object& live, const api::Resource& resource) {
  json::Arena arena;
  Gapped text = with_gap(tree_of(arena, live, *resource.storage));
  return {.op = store::Write::Op::kDelete,
          .key = {resource.id, live.meta().ns, live.meta().name},
          .expected = live.revision(),
          .head = std::move(text.head),
          .tail = std::move(text.tail)};
}

Result<Outcome> create_from(Attempt& attempt, json::Value object, const WriteOptions& options,
                            const Tracking& tracking) {
  const Call& call = attempt.call;
  const api::Resource& resource = *call.resource;
  const json::Value metadata = object.object_at("metadata");
  const std::string sent_version(metadata.get("resourceVersion").as_string());
  wipe_system_fields(metadata);
  MUSTER_CHECK(check_namespace(metadata, call));
  admission::Context context = attempt.context(admission::Operation::kCreate, options.dry_run);
  context.name = metadata.get("name").as_string();
  admission::default_object(context, object);
  if (!tracking.done)
    fields::track_update(attempt.arena, writer_of(attempt, tracking), json::Value(), object);
  MUSTER_CHECK(admission::mutate(context, object, json::Value()));
  MUSTER_CHECK(settle_name(attempt, metadata));
  metadata.set("uid", call.core->new_uid());
  metadata.set("creationTimestamp", format_time(attempt.now));
  const std::string name(metadata.get("name").as_string());
  context.name = name;
  admission::prepare_create(context, object);
  if (const api::FieldErrors errors = admission::validate_create(context, object);
      !errors.empty()) {
    return std::unexpected(errors.to_error(resource, name));
  }
  // One that is no number says nothing.
  if (parse_version(sent_version).value_or(0) != 0 && !tracking.done) {
    return std::unexpected(
        untranslated("resourceVersion should not be set on objects to be created"));
  }
  MUSTER_CHECK(check_absent(attempt, name));
  Outcome outcome{.status = 201, .write = {}, .shown = nullptr, .body = {}, .next = {}};
  MUSTER_TRY(store::Write write,
             fitting_write(attempt, object, tracking, nullptr, kMaxStoredBytes));
  if (options.dry_run) {
    MUSTER_TRY(const json::Value stored, stored_form(attempt.arena, object, resource, nullptr));
    outcome.shown = shown(without_revision(stored), 0);
  } else {
    outcome.write = std::move(write);
  }
  return outcome;
}

Result<Outcome> update_to(Attempt& attempt, const store::ObjectPtr& live, json::Value old,
                          json::Value object, const WriteOptions& options, const Tracking& tracking,
                          const UpdateRules& rules) {
  const Call& call = attempt.call;
  const api::Resource& resource = *call.resource;
  const json::Value metadata = object.object_at("metadata");
  MUSTER_CHECK(check_name(metadata, call));
  MUSTER_CHECK(check_namespace(metadata, call));
  if (rules.sent_whole) MUSTER_CHECK(check_uid(attempt, object, *live));
  const admission::Context context =
      attempt.context(admission::Operation::kUpdate, options.dry_run);
  admission::default_object(context, object);
  if (!tracking.done)
    fields::track_update(attempt.arena, writer_of(attempt, tracking), old, object);
  MUSTER_CHECK(admission::mutate(context, object, old));
  MUSTER_CHECK(check_version(attempt, object, *live, rules));
  metadata.set("resourceVersion", live->meta().resource_version);
  admission::prepare_update(context, object, old);
  if (const api::FieldErrors errors = admission::validate_update(context, object, old);
      !errors.empty()) {
    return std::unexpected(errors.to_error(resource, call.info.name));
  }
  fields::keep_times_if_unchanged(old, object);

  Outcome outcome;
  MUSTER_TRY(store::Write write, fitting_write(attempt, object, tracking, live.get(),
                                               limit_of_update(call, *live, old, object)));
  std::string text = Gapped{write.head, write.tail}.with(live->meta().resource_version);
  if (ready_to_go(object, resource)) {
    outcome.shown = shown(std::move(text), live->revision());
    if (!options.dry_run) outcome.write = delete_write(*live, resource);
  } else if (text == live->bytes()) {
    outcome.shown = live;
  } else if (options.dry_run) {
    outcome.shown = shown(std::move(text), live->revision());
  } else {
    outcome.write = std::move(write);
  }
  return outcome;
}

}  // namespace muster::server
