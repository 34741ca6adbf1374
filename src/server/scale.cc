// The scale subresource: the replicas of a controller as an autoscaling/v1 Scale.
#include <array>

#include "api/values/selector.h"
#include "fields/scale.h"
#include "json/write.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/object_write.h"
#include "server/patch_document.h"
#include "server/render.h"

namespace muster::server {
namespace {

// The selector of the parent as text.
std::string selector_text(json::Value parent) {
  const json::Value selector = parent.get({"spec", "selector"});
  if (selector.is_null()) return "";
  const bool structured = selector.has("matchLabels") || selector.has("matchExpressions");
  json::Arena arena;
  json::Value object = selector;
  if (!structured) {  // a ReplicationController's is a plain map
    object = json::Value::object(arena);
    object.set("matchLabels", selector);
  }
  const Result<api::LabelSelector> parsed = api::LabelSelector::from_object(object);
  return parsed ? parsed->text() : "";
}

json::Value scale_of(json::Arena& arena, json::Value parent) {
  const json::Value scale = json::Value::object(arena, 5);
  scale.set("kind", "Scale");
  scale.set("apiVersion", "autoscaling/v1");
  const json::Value metadata = scale.object_at("metadata");
  for (const std::string_view field :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const json::Value value = parent.get({"metadata", field}); !value.is_null())
      metadata.set(field, value);
  }
  const json::Value spec = scale.object_at("spec");
  if (const std::int64_t replicas = parent.get({"spec", "replicas"}).as_int(); replicas != 0) {
    spec.set("replicas", json::Value::of(replicas));
  }
  const json::Value status = scale.object_at("status");
  status.set("replicas", json::Value::of(parent.get({"status", "replicas"}).as_int()));
  if (const std::string selector = selector_text(parent); !selector.empty())
    status.set("selector", selector);
  return scale;
}

std::string scale_text(const store::Object& parent, const api::Resource& resource) {
  json::Arena arena;
  return json::write(scale_of(arena, tree_of(arena, parent, resource))) + "\n";
}

Status validate_scale(json::Value scale, std::string_view name) {
  api::FieldErrors errors;
  const json::Value replicas = scale.get({"spec", "replicas"});
  if (replicas.as_int() < 0) {
    errors.invalid(api::Path("spec.replicas"), replicas, "must be greater than or equal to 0");
  }
  if (errors.empty()) return {};
  return std::unexpected(errors.to_error("Scale.autoscaling", "autoscaling", "Scale", name));
}

constexpr std::array<std::string_view, 2> kReplicas{"spec", "replicas"};

// The Scale that the request asks for, with its managedFields. `present` is the live one.
Result<json::Value> sent_scale(Attempt& attempt, json::Value present, const WriteOptions& options,
                               const Tracking& tracking, std::optional<PatchType> type) {
  const Call& call = attempt.call;
  const BodyKind kind = BodyKind::of(call.core->scales);
  const BodyRules rules{options.validation, &attempt.call.warnings};
  const fields::Writer writer{tracking.manager, "scale", &call.core->scales, attempt.now};
  if (type == PatchType::kApply) {
    MUSTER_TRY(const json::Value document,
               apply_document(attempt.arena, call.request(), kind.gvk, rules));
    MUSTER_TRY(
        const fields::Applied applied,
        fields::apply(attempt.arena, writer, present, document, options.force.value_or(false)));
    return applied.object;
  }
  json::Value scale;
  if (type) {
    Looseness loose;
    MUSTER_TRY(const json::Value tree,
               patched(attempt.arena, *type, call.request(), present, *kind.schema, loose));
    MUSTER_TRY(scale, decode_patched(attempt.arena, tree, kind, call.core->registry,
                                     std::move(loose), rules));
  } else {
    MUSTER_TRY(scale, decode_body(attempt.arena, call.request(), kind, call.core->registry, rules));
  }
  fields::track_update(attempt.arena, writer, present, scale);
  return scale;
}

// The parent with the replicas and the version that the Scale has.
json::Value scaled_parent(Attempt& attempt, json::Value old, json::Value scale) {
  const json::Value object = json::clone(attempt.arena, old);
  object.object_at("spec").set("replicas",
                               json::Value::of(scale.get({"spec", "replicas"}).as_int()));
  const json::Value metadata = object.object_at("metadata");
  metadata.set("resourceVersion", scale.get({"metadata", "resourceVersion"}).as_string());
  if (const std::string_view name = scale.get({"metadata", "name"}).as_string(); !name.empty())
    metadata.set("name", name);
  metadata.set("managedFields",
               fields::parent_entries(attempt.arena, *attempt.call.resource, kReplicas,
                                      old.get({"metadata", "managedFields"}),
                                      scale.get({"metadata", "managedFields"})));
  return object;
}

Result<Outcome> plan_scale(Attempt& attempt, const WriteOptions& options, Tracking tracking,
                           std::optional<PatchType> type) {
  const Call& call = attempt.call;
  const api::Resource& resource = *call.resource;
  const store::ObjectPtr live = attempt.find(resource, call.info.ns, call.info.name);
  if (live == nullptr) return std::unexpected(not_found(resource, call.info.name));
  const json::Value old = tree_of(attempt.arena, *live, resource);
  const json::Value present = scale_of(attempt.arena, old);
  present.get("metadata")
      .set("managedFields", fields::scale_entries(attempt.arena, resource, kReplicas,
                                                  old.get({"metadata", "managedFields"})));
  MUSTER_TRY(const json::Value scale, sent_scale(attempt, present, options, tracking, type));
  MUSTER_CHECK(validate_scale(scale, call.info.name));
  const json::Value object = scaled_parent(attempt, old, scale);
  tracking.done = true;
  MUSTER_TRY(Outcome outcome,
             update_to(attempt, live, old, object, options, tracking, {.sent_whole = false}));
  if (!outcome.write) {
    outcome.body = scale_text(*outcome.shown, resource);
    return outcome;
  }
  outcome.next = [&resource](Attempt& next) -> Result<Outcome> {
    Outcome answer;
    answer.body = scale_text(*next.committed, resource);
    return answer;
  };
  return outcome;
}

void write_scale(const CallPtr& call, std::string_view options_kind,
                 std::optional<PatchType> type) {
  const Result<WriteOptions> options =
      parse_write_options(call->info.query, options_kind, type && *type == PatchType::kApply);
  if (!options) return call->answer_error(options.error());
  carry_out(call, [options = *options, tracking = tracking_of(*call, *options), type](
                      Attempt& attempt) { return plan_scale(attempt, options, tracking, type); });
}

}  // namespace

void get_scale(const CallPtr& call) {
  const store::ObjectPtr parent =
      call->core->store.snapshot()->get({call->resource->id, call->info.ns, call->info.name});
  if (parent == nullptr) return call->answer_error(not_found(*call->resource, call->info.name));
  call->answer_json(200, scale_text(*parent, *call->resource));
}

void update_scale(const CallPtr& call) { write_scale(call, "UpdateOptions", std::nullopt); }

void patch_scale(const CallPtr& call) {
  const Result<PatchType> type = patch_type(call->header("Content-Type"), call->resource->custom);
  if (!type) return call->answer_error(type.error());
  write_scale(call, "PatchOptions", *type);
}

}  // namespace muster::server
