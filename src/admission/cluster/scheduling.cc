// scheduling.k8s.io: PriorityClass. Its other kinds are in gangs.cc.
#include <fmt/format.h>

#include "admission/kinds.h"
#include "admission/pod/priority.h"
#include "admission/rules/checks.h"

namespace muster::admission {
namespace {

void default_priority_class(const Context&, Value priority_class) {
  set_default(priority_class, "preemptionPolicy", "PreemptLowerPriority");
}

void validate_system_class(Value priority_class, std::string_view name, FieldErrors& errors) {
  const std::int64_t value = system_priority(name);
  std::string fault;
  if (value == 0)
    fault = fmt::format("{} is not a known system priority class", name);
  else if (int_of(priority_class, "value") != value)
    fault = fmt::format("value of {} PriorityClass must be {}", name, value);
  else if (priority_class.get("globalDefault").as_bool())
    fault = fmt::format("globalDefault of {} PriorityClass must be false", name);
  if (!fault.empty())
    errors.forbidden(Path("metadata").child("name"),
                     "priority class names with 'system-' prefix are reserved for system use only. "
                     "error: " +
                         fault);
}

void validate_priority_class(const Context& context, Value priority_class, FieldErrors& errors) {
  if (context.operation != Operation::kCreate) return;
  const std::string_view name = text_of(priority_class.get("metadata"), "name");
  if (name.starts_with("system-"))
    validate_system_class(priority_class, name, errors);
  else if (int_of(priority_class, "value") > kHighestUserPriority)
    errors.forbidden(Path("value"),
                     fmt::format("maximum allowed value of a user defined priority is {}",
                                 kHighestUserPriority));
  validate_choice(priority_class, "preemptionPolicy", {"PreemptLowerPriority", "Never"}, Path(),
                  errors);
}

void validate_priority_class_update(const Context&, Value priority_class, Value old,
                                    FieldErrors& errors) {
  if (int_of(priority_class, "value") != int_of(old, "value"))
    errors.forbidden(Path("value"), "may not be changed in an update.");
  require_unchanged(priority_class, old, "preemptionPolicy", Path(), errors);
}

}  // namespace

constinit const Kind kPriorityClass = {
    .group = "scheduling.k8s.io",
    .name = "PriorityClass",
    .apply_defaults = default_priority_class,
    .validate = validate_priority_class,
    .validate_update = validate_priority_class_update,
};

}  // namespace muster::admission
