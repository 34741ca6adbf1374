// Roles and bindings.
#include "admission/kinds.h"
#include "admission/rules/checks.h"

namespace muster::admission {
namespace {

constexpr const char* kGroup = "rbac.authorization.k8s.io";

void default_binding(const Context&, Value binding) {
  set_default(binding.object_at("roleRef"), "apiGroup", kGroup);
  for (const Value subject : binding.get("subjects").items()) {
    const std::string_view kind = text_of(subject, "kind");
    if (kind == "User" || kind == "Group") set_default(subject, "apiGroup", kGroup);
  }
}

void validate_rules(const Context& context, Value role, FieldErrors& errors) {
  const Value rules = role.get("rules");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Value rule = rules.item(i);
    const Path path = Path("rules").index(i);
    if (rule.get("verbs").empty())
      errors.required(path.child("verbs"), "verbs must contain at least one value");
    if (!rule.get("nonResourceURLs").empty()) {
      if (context.resource->namespaced)
        errors.invalid(path.child("nonResourceURLs"), rule.get("nonResourceURLs"),
                       "namespaced rules cannot apply to non-resource URLs");
      if (!rule.get("resources").empty() || !rule.get("apiGroups").empty())
        errors.invalid(path.child("nonResourceURLs"), rule.get("nonResourceURLs"),
                       "rules cannot apply to both regular resources and non-resource URLs");
      continue;
    }
    if (rule.get("apiGroups").empty())
      errors.required(path.child("apiGroups"), "resource rules must supply at least one api group");
    if (rule.get("resources").empty())
      errors.required(path.child("resources"), "resource rules must supply at least one resource");
  }
}

void validate_subject(Value subject, bool namespaced, const Path& path, FieldErrors& errors) {
  require_text(subject, "name", path, errors);
  const std::string_view kind = text_of(subject, "kind");
  if (kind == "ServiceAccount") {
    if (!namespaced && text_of(subject, "namespace").empty())
      errors.required(path.child("namespace"));
  } else if (kind != "User" && kind != "Group") {
    constexpr std::string_view kKinds[] = {"ServiceAccount", "User", "Group"};
    errors.not_supported(path.child("kind"), kind, kKinds);
  }
}

void validate_binding(const Context& context, Value binding, FieldErrors& errors) {
  const Value ref = binding.get("roleRef");
  validate_choice(ref, "apiGroup", {kGroup}, Path("roleRef"), errors);
  if (context.resource->namespaced)
    validate_choice(ref, "kind", {"Role", "ClusterRole"}, Path("roleRef"), errors);
  else
    validate_choice(ref, "kind", {"ClusterRole"}, Path("roleRef"), errors);
  require_text(ref, "name", Path("roleRef"), errors);
  const Value subjects = binding.get("subjects");
  for (std::size_t i = 0; i < subjects.size(); ++i)
    validate_subject(subjects.item(i), context.resource->namespaced, Path("subjects").index(i),
                     errors);
}

void validate_binding_update(const Context&, Value binding, Value old, FieldErrors& errors) {
  if (!json::equal(binding.get("roleRef"), old.get("roleRef")))
    errors.invalid(Path("roleRef"), binding.get("roleRef"), "cannot change roleRef");
}

constexpr Kind role_row(std::string_view name) {
  return {.group = kGroup,
          .name = name,
          .name_rule = NameRule::kPathSegment,
          .validate = validate_rules};
}

constexpr Kind binding_row(std::string_view name) {
  return {.group = kGroup,
          .name = name,
          .name_rule = NameRule::kPathSegment,
          .apply_defaults = default_binding,
          .validate = validate_binding,
          .validate_update = validate_binding_update};
}

}  // namespace

constinit const Kind kRole = role_row("Role");
constinit const Kind kClusterRole = role_row("ClusterRole");
constinit const Kind kRoleBinding = binding_row("RoleBinding");
constinit const Kind kClusterRoleBinding = binding_row("ClusterRoleBinding");

}  // namespace muster::admission
