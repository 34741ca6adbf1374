#include "api/versions/convert.h"

#include <algorithm>
#include <array>

#include "api/decode/decode.h"
#include "api/versions/conversion.h"

namespace muster::api {
namespace {

using json::Value;

constexpr auto kConversions = std::to_array<const Conversion*>({
    &kEventV1,
    &kClusterQueueV1beta1,
    &kLocalQueueV1beta1,
    &kKueueWorkloadV1beta1,
    &kPodGroupV1alpha2,
    &kWorkloadV1alpha1,
    &kWorkloadV1alpha2,
});

// Null pointer: the versions differ in nothing but their names.
const Conversion* conversion_of(const Resource& resource) {
  const auto found = std::ranges::find_if(kConversions, [&](const Conversion* row) {
    return row->kind == resource.gvk.kind && row->group == resource.gvk.group &&
           row->version == resource.gvk.version;
  });
  return found == kConversions.end() ? nullptr : *found;
}

void set_type(Value object, const GroupVersionKind& gvk) {
  object.set("apiVersion", gvk.api_version());
  object.set("kind", gvk.kind);
}

// What does not fit its schema was not written by this program. A start parses stored texts but
// decodes none, so it is shown as it is: one strange object must not stop the server.
Value canonical_form(json::Arena& arena, Value object, const Resource& resource) {
  DecodeReport ignored;  // fields of another version
  return decode(arena, object, resource, ignored).value_or(object);
}

}  // namespace

void rename_member(Value object, std::string_view from, std::string_view to) {
  const Value* value = object.find(from);
  if (value == nullptr) return;
  const Value moved = *value;
  object.erase(from);
  object.set(to, moved);
}

void keep_member(Value object, Value live, std::string_view key) {
  if (!object.is_object() || !object.get(key).is_null()) return;
  if (const Value kept = live.get(key); !kept.is_null())
    object.set(key, json::clone(object.arena(), kept));
}

void to_storage(Value object, const Resource& resource, Value live) {
  if (resource.storage == &resource) return;
  set_type(object, resource.storage->gvk);
  const Conversion* const conversion = conversion_of(resource);
  if (conversion == nullptr) return;
  conversion->to_storage(object);
  if (conversion->keep != nullptr && live.is_object()) conversion->keep(object, live);
}

void from_storage(Value object, const Resource& resource) {
  if (resource.storage == &resource) return;
  set_type(object, resource.gvk);
  if (const Conversion* const conversion = conversion_of(resource); conversion != nullptr)
    conversion->from_storage(object);
}

Value read_as(json::Arena& arena, Value stored, const Resource& resource) {
  if (resource.storage == &resource) return stored;
  from_storage(stored, resource);
  return canonical_form(arena, stored, resource);
}

Value convert(json::Arena& arena, Value object, const Resource& from, const Resource& to,
              Value live) {
  const auto stored_form = [&arena](Value original, const Resource& resource) {
    const Value copy = json::clone(arena, original);
    if (copy.is_object()) to_storage(copy, resource);
    return copy;
  };
  const Value copy = json::clone(arena, object);
  if (!copy.is_object()) return copy;
  if (&from != &to) {
    to_storage(copy, from, stored_form(live, to));
    from_storage(copy, to);
  }
  return canonical_form(arena, copy, to);
}

}  // namespace muster::api
