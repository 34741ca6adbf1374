// Lists of resources: names and amounts.
#pragma once

#include "api/values/field_error.h"
#include "json/value.h"

namespace muster::admission {

// {limits, requests, claims} of a container.
void validate_container_resources(json::Value resources, const api::Path& path,
                                  api::FieldErrors& errors);
// The amount of a resource that is not negative and, where it cannot be divided, whole.
void validate_amount(std::string_view resource, json::Value amount, const api::Path& path,
                     api::FieldErrors& errors);
// A list of any resources: capacity of a node, overhead of a pod.
void validate_resource_list(json::Value list, const api::Path& path, api::FieldErrors& errors);

bool is_extended_resource(std::string_view name);
bool is_standard_resource(std::string_view name);  // known to Kubernetes, in a pod or in a quota

}  // namespace muster::admission
