#include "controllers/runtime/writes.h"

#include "api/views/owner_reference.h"

namespace muster::controllers {
namespace {

using json::Value;

std::string_view propagation_name(Propagation propagation) {
  switch (propagation) {
    case Propagation::kBackground:
      return "Background";
    case Propagation::kForeground:
      return "Foreground";
    case Propagation::kOrphan:
      return "Orphan";
  }
  return {};
}

Value remove_options(json::Arena& arena, const ObjectRef& target, Propagation propagation) {
  Value options = Value::object(arena);
  options.set("propagationPolicy", propagation_name(propagation));
  if (!target.uid.empty()) options.object_at("preconditions").set("uid", target.uid);
  return options;
}

client::Operation removal(const api::Resource& resource, const ObjectRef& target, Value options) {
  return {.verb = client::Verb::kDelete,
          .resource = &resource,
          .ns = target.ns,
          .name = target.name,
          .body = options};
}

}  // namespace

client::Operation create(const api::Resource& resource, Value object) {
  const Value metadata = object.get("metadata");
  return {.verb = client::Verb::kCreate,
          .resource = &resource,
          .ns = std::string(metadata.get("namespace").as_string()),
          .name = std::string(metadata.get("name").as_string()),
          .body = object};
}

client::Operation patch(const api::Resource& resource, const ObjectRef& target, Value change,
                        std::string_view subresource) {
  json::Arena arena;
  Value body = json::clone(arena, change);
  Value metadata = body.object_at("metadata");
  if (!target.uid.empty()) metadata.set("uid", target.uid);
  if (!target.resource_version.empty()) metadata.set("resourceVersion", target.resource_version);
  return {.verb = client::Verb::kPatch,
          .resource = &resource,
          .ns = target.ns,
          .name = target.name,
          .subresource = std::string(subresource),
          .body = body};
}

client::Operation remove(const api::Resource& resource, const ObjectRef& target,
                         Propagation propagation) {
  json::Arena arena;
  return removal(resource, target, remove_options(arena, target, propagation));
}

client::Operation remove_version(const api::Resource& resource, const ObjectRef& target,
                                 Propagation propagation) {
  json::Arena arena;
  Value options = remove_options(arena, target, propagation);
  options.object_at("preconditions").set("resourceVersion", target.resource_version);
  return removal(resource, target, options);
}

client::Operation remove_at_once(const api::Resource& resource, const ObjectRef& target) {
  json::Arena arena;
  Value options = remove_options(arena, target, Propagation::kBackground);
  options.set("gracePeriodSeconds", Value::of(0));
  return removal(resource, target, options);
}

Value difference(json::Arena& arena, Value before, Value after) {
  Value change = Value::object(arena);
  for (const auto& [key, value] : after.members()) {
    const Value old = before.get(key);
    if (value.is_object() && old.is_object()) {
      if (const Value inner = difference(arena, old, value); !inner.is_null())
        change.set(key, inner);
    } else if (!before.has(key) || !json::equal(old, value)) {
      change.set(key, value);
    }
  }
  for (const auto& [key, value] : before.members()) {
    if (!after.has(key)) change.set(key, Value());
  }
  return change.empty() ? Value() : change;
}

std::optional<client::Operation> patch_status(const api::Resource& resource,
                                              const ObjectRef& target, Value before, Value after) {
  json::Arena arena;
  const Value change = difference(arena, before, after);
  if (change.is_null()) return std::nullopt;
  Value body = Value::object(arena);
  body.set("status", change);
  return patch(resource, target, body, "status");
}

Value controller_reference(json::Arena& arena, const ObjectRef& owner) {
  return api::write_owner_reference(arena, {.api_version = owner.api_version,
                                            .kind = owner.kind,
                                            .name = owner.name,
                                            .uid = owner.uid,
                                            .controller = true,
                                            .block_owner_deletion = true});
}

}  // namespace muster::controllers
