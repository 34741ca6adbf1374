// The paths of an OpenAPI document: one per resource and subresource, with their operations.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/schema/registry.h"
#include "json/value.h"

namespace muster::api {

// Names under components.schemas. Custom resources are named after their kind, reversed group
// first.
std::string component_name(const Resource& resource);
std::string list_component_name(const Resource& resource);

// Adds the paths of one resource to `paths`. `refer` is told every type that an operation names and
// that is neither the resource's own nor its list's.
void add_resource_paths(const Registry& registry, const Resource& resource, json::Value paths,
                        const std::function<void(const Schema&)>& refer);

}  // namespace muster::api
