#include "admission/rules/strategy.h"

#include <algorithm>

#include "admission/rules/edit.h"
#include "admission/rules/field_order.h"

namespace muster::admission {
namespace {

bool is_part_of_content(const Context& context, std::string_view key) {
  if (key == "metadata" || key == "apiVersion" || key == "kind") return false;
  return key != "status" || !context.resource->has_status();
}

// Everything but metadata, and but the status if that is written apart.
bool content_differs(const Context& context, Value object, Value old) {
  const auto one_way = [&](Value a, Value b) {
    return std::ranges::any_of(a.members(), [&](const json::Member& member) {
      return is_part_of_content(context, member.key) &&
             !json::equal(member.value, b.get(member.key));
    });
  };
  return one_way(object, old) || one_way(old, object);
}

bool raises_generation(const Context& context, const Kind& kind, Value object, Value old) {
  if (kind.also_raises_generation && kind.also_raises_generation(object, old)) return true;
  if (context.resource->generation == api::Generation::kContent)
    return content_differs(context, object, old);
  return !json::equal(object.get("spec"), old.get("spec"));
}

}  // namespace

void clear_status(const Context& context, Value object) {
  if (!context.resource->has_status()) return;
  const api::Field* const field = context.resource->schema->field("status");
  if (!context.resource->custom && field && field->emit_always)
    object.set("status", empty_form(object.arena(), *field->schema));
  else
    object.erase("status");
}

void keep_status(const Context& context, Value object, Value old) {
  if (context.resource->has_status()) take_member(object, old, "status");
}

void keep_all_but_status(const Context& context, Value object, Value old) {
  if (!context.resource->custom) {
    take_member(object, old, "spec");
    return;
  }
  const Value metadata = object.get("metadata");
  const Value kept = json::clone(object.arena(), old.get("metadata"));
  for (const std::string_view key : {"managedFields", "resourceVersion"})
    take_member(kept, metadata, key);
  const Value status = object.get("status");
  object.erase_if([](const json::Member&) { return true; });
  for (const json::Member& member : old.members())
    if (member.key != "status" && member.key != "metadata")
      object.set(member.key, json::clone(object.arena(), member.value));
  object.set("metadata", kept);
  if (!status.is_null()) object.set("status", status);
}

void start_generation(const Context& context, Value object) {
  const Value metadata = object.object_at("metadata");
  if (context.resource->generation == api::Generation::kNever)
    metadata.erase("generation");
  else
    metadata.set("generation", Value::of(1));
}

void raise_generation(const Context& context, const Kind& kind, Value object, Value old) {
  if (context.resource->generation == api::Generation::kNever || context.subresource == "status")
    return;
  if (!raises_generation(context, kind, object, old)) return;
  const Value metadata = object.get("metadata");
  metadata.set("generation", Value::of(int_of(metadata, "generation") + 1));
}

}  // namespace muster::admission
