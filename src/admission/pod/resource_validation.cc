#include "admission/pod/resource_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "admission/rules/checks.h"
#include "api/values/quantity.h"

namespace muster::admission {
namespace {

bool is_huge_pages(std::string_view name) { return name.starts_with("hugepages-"); }

bool is_container_resource(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || is_huge_pages(name);
}

bool is_native_resource(std::string_view name) {
  return name.find('/') == std::string_view::npos ||
         name.find("kubernetes.io/") != std::string_view::npos;
}

bool can_be_overcommitted(std::string_view name) {
  return is_native_resource(name) && !is_huge_pages(name);
}

void validate_container_resource_name(std::string_view name, const Path& path,
                                      FieldErrors& errors) {
  const api::Faults faults = api::check_qualified_name(name);
  add_faults(errors, path, name, faults);
  if (name.find('/') == std::string_view::npos) {
    if (faults.empty() && !is_standard_resource(name))
      errors.invalid(path, name, "must be a standard resource type or fully qualified");
    if (!is_container_resource(name))
      errors.invalid(path, name, "must be a standard resource for containers");
  } else if (!is_native_resource(name) && !is_extended_resource(name)) {
    errors.invalid(path, name, "doesn't follow extended resource name standard");
  }
}

void validate_request_against_limit(std::string_view name, std::string_view request, Value limit,
                                    const Path& path, FieldErrors& errors) {
  if (limit.is_null()) {
    if (!can_be_overcommitted(name))
      errors.required(path.child("limits"), "Limit must be set for non overcommitable resources");
    return;
  }
  const auto asked = api::Quantity::parse(request);
  const auto most = api::Quantity::parse(limit.as_string());
  if (!asked || !most) return;
  if (*asked != *most && !can_be_overcommitted(name))
    errors.invalid(path.child("requests"), request,
                   fmt::format("must be equal to {} limit of {}", name, most->text()));
  else if (*asked > *most)
    errors.invalid(path.child("requests"), request,
                   fmt::format("must be less than or equal to {} limit of {}", name, most->text()));
}

}  // namespace

bool is_standard_resource(std::string_view name) {
  constexpr std::array<std::string_view, 13> kOthers = {"pods",
                                                        "services",
                                                        "replicationcontrollers",
                                                        "resourcequotas",
                                                        "secrets",
                                                        "configmaps",
                                                        "persistentvolumeclaims",
                                                        "storage",
                                                        "services.nodeports",
                                                        "services.loadbalancers",
                                                        "requests.storage",
                                                        "requests.cpu",
                                                        "requests.memory"};
  return is_container_resource(name) || name.starts_with("limits.") ||
         name.starts_with("requests.") || std::ranges::find(kOthers, name) != kOthers.end();
}

bool is_extended_resource(std::string_view name) {
  if (is_native_resource(name) || name.starts_with("requests.")) return false;
  return api::check_qualified_name("requests." + std::string(name)).empty();
}

void validate_amount(std::string_view resource, Value amount, const Path& path,
                     FieldErrors& errors) {
  const auto quantity = api::Quantity::parse(amount.as_string());
  if (!quantity) return;  // decoding has refused it
  if (quantity->is_negative()) errors.invalid(path, amount, kNotNegative);
  if (is_extended_resource(resource) && quantity->milli_value() % 1000 != 0)
    errors.invalid(path, amount, "must be an integer");
}

void validate_resource_list(Value list, const Path& path, FieldErrors& errors) {
  for (const json::Member& entry : list.members()) {
    add_faults(errors, path.key(entry.key), entry.key, api::check_qualified_name(entry.key));
    validate_amount(entry.key, entry.value, path.key(entry.key), errors);
  }
}

void validate_container_resources(Value resources, const Path& path, FieldErrors& errors) {
  const Value limits = resources.get("limits");
  for (const json::Member& limit : limits.members()) {
    const Path entry = path.child("limits").key(limit.key);
    validate_container_resource_name(limit.key, entry, errors);
    validate_amount(limit.key, limit.value, entry, errors);
  }
  for (const json::Member& request : resources.get("requests").members()) {
    const Path entry = path.child("requests").key(request.key);
    validate_container_resource_name(request.key, entry, errors);
    validate_amount(request.key, request.value, entry, errors);
    validate_request_against_limit(request.key, request.value.as_string(), limits.get(request.key),
                                   path, errors);
  }
}

}  // namespace muster::admission
