#include "admission/kueue/kueue.h"

#include <algorithm>
#include <array>

#include "admission/rules/custom_resource.h"
#include "admission/rules/edit.h"
#include "admission/rules/finalizer.h"
#include "admission/rules/selector_validation.h"

namespace muster::admission {
namespace {

constexpr std::string_view kInUseFinalizer = "kueue.x-k8s.io/resource-in-use";

struct TolerationRule {
  bool (*holds)(Value toleration);
  std::string_view message;
};

constexpr auto kTolerationRules = std::to_array<TolerationRule>({
    {[](Value t) { return t.has("key") || text_of(t, "operator") == "Exists"; },
     "operator must be Exists when 'key' is empty, which means 'match all values and all keys'"},
    {[](Value t) { return !t.has("tolerationSeconds") || text_of(t, "effect") == "NoExecute"; },
     "effect must be 'NoExecute' when 'tolerationSeconds' is set"},
    {[](Value t) {
       const std::string_view op = text_of(t, "operator");
       return !t.has("operator") || op == "Equal" || op == "Exists";
     },
     "supported toleration values: 'Equal'(default), 'Exists'"},
    {[](Value t) { return text_of(t, "operator") != "Exists" || !t.has("value"); },
     "a value must be empty when 'operator' is 'Exists'"},
    {[](Value t) { return !t.has("effect") || is_taint_effect(text_of(t, "effect")); },
     "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'"},
});

}  // namespace

Status keep_while_in_use(const Context& context, Value object, Value) {
  if (context.operation == Operation::kCreate) add_finalizer(object, kInUseFinalizer);
  return {};
}

bool is_taint_effect(std::string_view effect) {
  return effect == "NoSchedule" || effect == "PreferNoSchedule" || effect == "NoExecute";
}

bool is_v1beta1(const Context& context) { return context.resource->gvk.version == "v1beta1"; }

std::optional<api::Quantity> quantity_of(Value value) {
  if (value.is_null()) return {};
  const auto quantity = api::Quantity::read(value);
  return quantity ? std::optional(*quantity) : std::nullopt;
}

void check_toleration_rules(Value tolerations, const Path& path, FieldErrors& errors) {
  for (const TolerationRule& rule : kTolerationRules)
    if (!std::ranges::all_of(tolerations.items(), rule.holds))
      rule_broken(errors, path, rule.message);
}

void check_toleration_keys(Value tolerations, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < tolerations.size(); ++i)
    if (const std::string_view key = text_of(tolerations.item(i), "key"); !key.empty())
      validate_label_name(key, path.index(i).child("key"), errors);
}

}  // namespace muster::admission
