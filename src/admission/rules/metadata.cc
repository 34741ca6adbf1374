#include "admission/rules/metadata.h"

#include <fmt/format.h>

#include <set>

#include "admission/rules/checks.h"
#include "admission/rules/list_index.h"
#include "json/write.h"

namespace muster::admission {
namespace {

Path metadata_path() { return Path("metadata"); }

// A prefix may end in a dash: what is generated will follow it.
std::string without_trailing_dash(std::string_view prefix) {
  if (prefix.size() > 1 && prefix.ends_with('-'))
    return std::string(prefix.substr(0, prefix.size() - 2)) + "a";
  return std::string(prefix);
}

void validate_name(const Context& context, const Kind& kind, Value metadata, FieldErrors& errors) {
  const std::string_view generate_name = text_of(metadata, "generateName");
  if (!generate_name.empty())
    add_faults(errors, metadata_path().child("generateName"), generate_name,
               check_name(kind.name_rule, generate_name, true));

  const std::string_view name = text_of(metadata, "name");
  if (name.empty()) {
    errors.required(metadata_path().child("name"), "name or generateName is required");
  } else {
    add_faults(errors, metadata_path().child("name"), name,
               check_name(kind.name_rule, name, false));
  }

  const std::string_view ns = text_of(metadata, "namespace");
  const Path ns_path = metadata_path().child("namespace");
  if (!context.resource->namespaced) {
    if (!ns.empty()) errors.forbidden(ns_path, "not allowed on this type");
  } else if (ns.empty()) {
    errors.required(ns_path);
  } else {
    add_faults(errors, ns_path, ns, api::check_dns1123_label(ns));
  }
}

bool is_event(std::string_view api_version, std::string_view kind) {
  return api_version == "v1" && kind == "Event";
}

std::string_view version_of(std::string_view api_version) {
  const auto slash = api_version.find('/');
  if (slash == std::string_view::npos) return api_version;
  const std::string_view version = api_version.substr(slash + 1);
  return version.find('/') == std::string_view::npos ? version : std::string_view();
}

void validate_owner(Value owner, const Path& path, FieldErrors& errors) {
  const std::string_view api_version = text_of(owner, "apiVersion");
  if (version_of(api_version).empty())
    errors.invalid(path.child("apiVersion"), api_version, "version must not be empty");
  for (const std::string_view key : {"kind", "name", "uid"})
    if (text_of(owner, key).empty())
      errors.invalid(path.child(key), text_of(owner, key), "must not be empty");
  if (is_event(api_version, text_of(owner, "kind")))
    errors.invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner");
}

void validate_owners(Value owners, FieldErrors& errors) {
  const Path path = metadata_path().child("ownerReferences");
  Value controller;
  for (const Value owner : owners.items()) {
    validate_owner(owner, path, errors);
    if (!owner.get("controller").as_bool()) continue;
    if (!controller.is_null())
      errors.invalid(
          path, owners,
          fmt::format("Only one reference can have Controller set to true. Found \"true\" in "
                      "references for {}/{} and {}/{}",
                      text_of(controller, "kind"), text_of(controller, "name"),
                      text_of(owner, "kind"), text_of(owner, "name")));
    controller = owner;
  }
}

bool is_standard_finalizer(std::string_view name) {
  return name == "kubernetes" || name == "orphan" || name == "foregroundDeletion";
}

// Custom resources may have finalizers without a domain, but are told not to.
void warn_of_finalizer(const Context& context, std::string_view name) {
  if (!context.warnings || is_standard_finalizer(name) || name.find('/') != std::string_view::npos)
    return;
  const std::string_view better = name.find('.') == std::string_view::npos
                                      ? "domain-qualified finalizer name"
                                      : "domain-qualified finalizer name including a path (/)";
  context.warnings->push_back(
      fmt::format("metadata.finalizers: \"{}\": prefer a {} to avoid accidental conflicts with "
                  "other finalizer writers",
                  name, better));
}

void validate_finalizers(const Context& context, Value finalizers, FieldErrors& errors) {
  const Path path = metadata_path().child("finalizers");
  for (const Value finalizer : finalizers.items())
    add_faults(errors, path, finalizer.as_string(),
               api::check_qualified_name(finalizer.as_string()));
  if (contains_text(finalizers, "orphan") && contains_text(finalizers, "foregroundDeletion"))
    errors.invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set");
  if (context.resource->custom)
    for (const Value finalizer : finalizers.items())
      warn_of_finalizer(context, finalizer.as_string());
}

void validate_no_new_finalizers(Value finalizers, Value old, FieldErrors& errors) {
  const std::set<std::string_view> before = texts_of(old);
  std::set<std::string_view> added;  // upstream lists them sorted
  for (const Value finalizer : finalizers.items())
    if (!before.contains(finalizer.as_string())) added.insert(finalizer.as_string());
  if (added.empty()) return;
  std::string listed;
  for (const std::string_view name : added)
    listed += (listed.empty() ? "" : ", ") + api::quote(name);
  errors.forbidden(metadata_path().child("finalizers"),
                   fmt::format("no new finalizers can be added if the object is being deleted, "
                               "found new finalizers []string{{{}}}",
                               listed));
}

}  // namespace

void drop_repeated_owners(const Context& context, Value object) {
  const Value owners = object.get({"metadata", "ownerReferences"});
  if (owners.size() < 2) return;
  std::set<std::string, std::less<>> seen;  // decoded, so equal ones have equal texts
  std::set<std::string_view> repeated;
  const Value distinct = Value::array(object.arena(), owners.size());
  for (const Value owner : owners.items()) {
    if (seen.insert(json::write(owner)).second)
      distinct.push_back(owner);
    else
      repeated.insert(text_of(owner, "uid"));
  }
  if (repeated.empty()) return;
  object.get("metadata").set("ownerReferences", distinct);
  if (!context.warnings) return;
  std::string uids;
  for (const std::string_view uid : repeated) uids += (uids.empty() ? "" : ", ") + std::string(uid);
  context.warnings->push_back(
      ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in "
      "1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate "
      "UID(s) observed: " +
      uids);
}

void restore_metadata(Value object, Value old) {
  const Value metadata = object.object_at("metadata");
  const Value before = old.get("metadata");
  take_member(metadata, before, "creationTimestamp");
  take_member(metadata, before, "generation");
  for (const std::string_view key : {"uid", "deletionTimestamp", "deletionGracePeriodSeconds"})
    if (!has_value(metadata, key)) take_member(metadata, before, key);
}

void validate_metadata(const Context& context, const Kind& kind, Value object,
                       FieldErrors& errors) {
  const Value metadata = object.get("metadata");
  validate_name(context, kind, metadata, errors);
  validate_not_negative(metadata, "generation", metadata_path(), errors);
  api::validate_labels(metadata.get("labels"), metadata_path().child("labels"), errors);
  api::validate_annotations(metadata.get("annotations"), metadata_path().child("annotations"),
                            errors);
  validate_owners(metadata.get("ownerReferences"), errors);
  validate_finalizers(context, metadata.get("finalizers"), errors);
}

void validate_finalizer_domains(Value object, FieldErrors& errors) {
  const Value finalizers = object.get({"metadata", "finalizers"});
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const std::string_view name = finalizers.item(i).as_string();
    if (name.find('/') == std::string_view::npos && !is_standard_finalizer(name))
      errors.invalid(metadata_path().child("finalizers").index(i), name,
                     "name is neither a standard finalizer name nor is it fully qualified");
  }
}

void validate_metadata_update(Value object, Value old, FieldErrors& errors) {
  const Value metadata = object.get("metadata");
  const Value before = old.get("metadata");
  if (has_value(before, "deletionTimestamp"))
    validate_no_new_finalizers(metadata.get("finalizers"), before.get("finalizers"), errors);
  for (const std::string_view key : {"name", "namespace", "uid", "creationTimestamp",
                                     "deletionTimestamp", "deletionGracePeriodSeconds"})
    if (!json::equal(metadata.get(key), before.get(key)))
      errors.invalid(metadata_path().child(key), metadata.get(key), kImmutable);
  api::validate_labels(metadata.get("labels"), metadata_path().child("labels"), errors);
  api::validate_annotations(metadata.get("annotations"), metadata_path().child("annotations"),
                            errors);
  validate_owners(metadata.get("ownerReferences"), errors);
}

api::Faults check_name(NameRule rule, std::string_view name, bool prefix) {
  switch (rule) {
    case NameRule::kPathSegment:
      return api::check_path_segment(name);
    case NameRule::kLabel:
      return api::check_dns1123_label(prefix ? without_trailing_dash(name) : std::string(name));
    case NameRule::kSubdomain:
      break;
  }
  return api::check_dns1123_subdomain(prefix ? without_trailing_dash(name) : std::string(name));
}

}  // namespace muster::admission
