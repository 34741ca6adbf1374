// The Namespace: labelled with its own name, kept by a finalizer until its content is gone.
#include "admission/kinds.h"
#include "admission/rules/checks.h"

namespace muster::admission {
namespace {

constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";
constexpr const char* kFinalizer = "kubernetes";

void label_with_name(Value ns) {
  const Value metadata = ns.object_at("metadata");
  const Value name = metadata.get("name");
  if (!name.as_string().empty()) metadata.object_at("labels").set(kNameLabel, name);
}

void default_namespace(const Context&, Value ns) { label_with_name(ns); }

void prepare_namespace_create(const Context&, Value ns) {
  label_with_name(ns);  // a generated name was not known before
  ns.object_at("status").set("phase", Value::view("Active"));
  const Value finalizers = ns.object_at("spec").array_at("finalizers");
  if (!contains_text(finalizers, kFinalizer)) finalizers.push_back(Value::view(kFinalizer));
}

void prepare_namespace_update(const Context&, Value ns, Value old) {
  take_member(ns.object_at("spec"), old.get("spec"), "finalizers");
}

void prepare_namespace_subresource(const Context& context, Value ns, Value old) {
  if (context.subresource == "finalize") take_member(ns, old, "status");
}

void validate_namespace(const Context&, Value ns, FieldErrors& errors) {
  const Value finalizers = ns.get({"spec", "finalizers"});
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const std::string_view name = finalizers.item(i).as_string();
    const Path path = Path("spec").child("finalizers");
    add_faults(errors, path, name, api::check_qualified_name(name));
    if (name.find('/') == std::string_view::npos && name != kFinalizer)
      errors.invalid(path, name,
                     "name is neither a standard finalizer name nor is it fully qualified");
  }
}

void validate_namespace_subresource(const Context& context, Value ns, Value old,
                                    FieldErrors& errors) {
  if (context.subresource == "finalize") return validate_namespace(context, ns, errors);
  const std::string_view phase = text_of(ns.get("status"), "phase");
  const bool terminating = has_value(old.get("metadata"), "deletionTimestamp");
  if (terminating && phase != "Terminating")
    errors.invalid(Path("status").child("Phase"), phase,
                   "may only be 'Terminating' if `deletionTimestamp` is not empty");
  if (!terminating && phase != "Active")
    errors.invalid(Path("status").child("Phase"), phase,
                   "may only be 'Active' if `deletionTimestamp` is empty");
}

}  // namespace

constinit const Kind kNamespace = {
    .group = "",
    .name = "Namespace",
    .name_rule = NameRule::kLabel,
    .apply_defaults = default_namespace,
    .prepare_create = prepare_namespace_create,
    .prepare_update = prepare_namespace_update,
    .prepare_subresource = prepare_namespace_subresource,
    .validate = validate_namespace,
    .validate_subresource = validate_namespace_subresource,
};

}  // namespace muster::admission
