// The data files that are part of the binary.
#pragma once

#include <string_view>

namespace muster::api::data {

std::string_view k8s_schema();     // types of the built-in kinds
std::string_view discovery();      // groups, resources, subresources
std::string_view table_columns();  // printer columns of the built-in kinds
std::string_view jobset();         // the JobSet definition
std::string_view kueue();          // the Kueue definitions
std::string_view descriptions();   // our words on types and fields

}  // namespace muster::api::data
