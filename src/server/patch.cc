// PATCH of an object or of one of its subresources that are views of it.
#include "server/authorization.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/object_write.h"
#include "server/patch_document.h"
#include "server/render.h"

namespace muster::server {
namespace {

Result<Outcome> plan_patch(Attempt& attempt, PatchType type, const WriteOptions& options,
                           const Tracking& tracking) {
  const Call& call = attempt.call;
  const api::Resource& resource = *call.resource;
  const store::ObjectPtr live = attempt.find(resource, call.info.ns, call.info.name);
  if (live == nullptr) return std::unexpected(not_found(resource, call.info.name));
  const json::Value old = tree_of(attempt.arena, *live, resource);
  Looseness loose;
  MUSTER_TRY(const json::Value tree,
             patched(attempt.arena, type, call.request(), old, *resource.schema, loose));
  MUSTER_TRY(const json::Value object,
             decode_patched(attempt.arena, tree, BodyKind::of(resource), call.core->registry,
                            std::move(loose), {options.validation, &attempt.call.warnings}));
  return update_to(attempt, live, old, object, options, tracking, {.sent_whole = false});
}

Status check_apply_identity(json::Value document, const Call& call) {
  const json::Value metadata = document.object_at("metadata");
  const std::string_view name = metadata.get("name").as_string();
  if (name.empty()) {
    metadata.set("name", call.info.name);
  } else if (name != call.info.name) {
    return std::unexpected(bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                    call.info.name)));
  }
  return {};
}

// The result of a merge as the server holds it: decoded, so that empty fields go and values are
// canonical.
Result<json::Value> decode_applied(Attempt& attempt, json::Value merged) {
  Looseness ignored;  // the document was checked against the schema when it was merged
  Result<json::Value> object =
      decode_tree(attempt.arena, merged, BodyKind::of(*attempt.call.resource), ignored);
  if (!object) return std::unexpected(bad_request(object.error().message));
  return object;
}

Result<Outcome> plan_apply(Attempt& attempt, const WriteOptions& options, Tracking tracking) {
  const Call& call = attempt.call;
  const api::Resource& resource = *call.resource;
  MUSTER_TRY(const json::Value document,
             apply_document(attempt.arena, call.request(), resource.gvk,
                            {options.validation, &attempt.call.warnings}));
  const store::ObjectPtr live = attempt.find(resource, call.info.ns, call.info.name);
  if (live == nullptr && call.subresource != nullptr)
    return std::unexpected(not_found(resource, call.info.name));
  const json::Value old = live == nullptr ? json::Value() : tree_of(attempt.arena, *live, resource);
  MUSTER_TRY(const fields::Applied applied,
             fields::apply(attempt.arena, writer_of(attempt, tracking), old,
                           json::clone(attempt.arena, document), options.force.value_or(false)));
  MUSTER_TRY(const json::Value object, decode_applied(attempt, applied.object));
  MUSTER_CHECK(check_apply_identity(object, call));
  tracking.done = true;
  if (live != nullptr)
    return update_to(attempt, live, old, object, options, tracking, {.sent_whole = false});
  if (const std::string_view uid = document.get({"metadata", "uid"}).as_string(); !uid.empty()) {
    return std::unexpected(conflict(
        resource, call.info.name,
        fmt::format("uid mismatch: the provided object specified uid {}, and no existing object "
                    "was found",
                    uid)));
  }
  MUSTER_CHECK(check_also_allowed(*call.core, call.user, call.info, "create"));
  return create_from(attempt, object, options, tracking);
}

}  // namespace

void patch_object(const CallPtr& call) {
  const Result<PatchType> type = patch_type(call->header("Content-Type"), call->resource->custom);
  if (!type) return call->answer_error(type.error());
  const bool apply = *type == PatchType::kApply;
  const Result<WriteOptions> options = parse_write_options(call->info.query, "PatchOptions", apply);
  if (!options) return call->answer_error(options.error());
  carry_out(call, [type = *type, options = *options,
                   tracking = tracking_of(*call, *options)](Attempt& attempt) {
    return type == PatchType::kApply ? plan_apply(attempt, options, tracking)
                                     : plan_patch(attempt, type, options, tracking);
  });
}

}  // namespace muster::server
