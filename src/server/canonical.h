// The stored text of an object, with a gap where its resourceVersion goes.
#pragma once

#include <string>
#include <string_view>

#include "api/schema/registry.h"
#include "base/result.h"
#include "json/value.h"

namespace muster::server {

// Text before and after the digits of metadata.resourceVersion.
struct Gapped {
  std::string head;
  std::string tail;

  std::string with(std::string_view revision) const;
};

// `object` must have metadata; its resourceVersion (any value, or none) is where the gap will be,
// in the place that the member order gives it. Found by walking, not by a marker, so no text in the
// object can be taken for it.
Gapped with_gap(json::Value object);
// The same text without the member metadata.resourceVersion.
std::string without_revision(json::Value object);

// The form in which the resource's objects are stored: fields in the schema's order (custom
// resources: sorted), empty ones dropped. What admission added gets its place here. The
// resourceVersion becomes a placeholder, so that with_gap() finds it.
Result<json::Value> canonical(json::Arena& arena, json::Value object,
                              const api::Resource& resource);

}  // namespace muster::server
