// The rules for names, labels and keys, with upstream's messages (spec: apimachinery 6.1).
// Each returns every fault found; none means valid.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/values/field_error.h"
#include "json/value.h"

namespace muster::api {

using Faults = std::vector<std::string>;

Faults check_dns1123_subdomain(std::string_view text);
Faults check_dns1123_label(std::string_view text);
Faults check_dns1035_label(std::string_view text);
Faults check_qualified_name(std::string_view text);  // label keys
Faults check_label_value(std::string_view text);
Faults check_config_key(std::string_view text);
Faults check_port_name(std::string_view text);
Faults check_env_name(std::string_view text);
Faults check_path_segment(std::string_view text);  // names of RBAC kinds

void validate_labels(json::Value labels, const Path& path, FieldErrors& errors);
void validate_annotations(json::Value annotations, const Path& path, FieldErrors& errors);

}  // namespace muster::api
