#include "store/selection.h"

#include "api/values/field_selector.h"
#include "json/parse.h"

namespace muster::store {

Result<Selection> Selection::parse(const api::Resource& resource, std::string_view ns,
                                   std::string_view name, std::string_view labels,
                                   std::string_view fields) {
  Selection out;
  out.resource_ = &resource;
  out.ns_ = std::string(ns);
  MUSTER_TRY(out.labels_, api::LabelSelector::parse(labels));
  MUSTER_TRY(const api::FieldSelector sent, api::FieldSelector::parse(fields));
  MUSTER_TRY(out.fields_, api::resolve_field_selector(resource, sent));
  for (const api::FieldRequirement& requirement : out.fields_.requirements()) {
    out.needs_body_ |= !requirement.field.starts_with("metadata.");
    if (!name.empty() && requirement.field == "metadata.name" && requirement.equal &&
        requirement.value != name) {
      return fail(Code::kBadRequest, "fieldSelector metadata.name doesn't match requested name");
    }
  }
  if (!name.empty()) out.fields_.add({"metadata.name", true, std::string(name)});
  return out;
}

bool Selection::matches_fields(const Object& object, json::Value content) const {
  json::Arena arena;
  json::Value tree = content;
  if (needs_body_ && tree.is_null()) {
    const Result<json::Value> parsed = json::parse(arena, object.bytes());
    MUSTER_ASSERT(parsed.has_value(), "stored objects are well formed");
    tree = *parsed;
  }
  return fields_.matches([&](std::string_view field) -> std::string {
    if (field == "metadata.name") return object.meta().name;
    if (field == "metadata.namespace") return object.meta().ns;
    return api::field_value(*resource_, field, tree);
  });
}

bool Selection::matches(const Object& object, json::Value content) const {
  if (!ns_.empty() && object.meta().ns != ns_) return false;
  if (!labels_.matches_everything() &&
      !labels_.matches([&](std::string_view key) { return object.meta().label(key); })) {
    return false;
  }
  return fields_.empty() || matches_fields(object, content);
}

}  // namespace muster::store
