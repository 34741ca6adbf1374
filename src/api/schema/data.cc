#include "api/schema/data.h"

// NOLINTBEGIN(bugprone-reserved-identifier)
#define MUSTER_EMBEDDED(name)                                                         \
  extern "C" const char muster_data_##name[];                                         \
  extern "C" const char muster_data_##name##_end[];                                   \
  std::string_view muster::api::data::name() {                                        \
    return {muster_data_##name,                                                       \
            static_cast<std::size_t>(muster_data_##name##_end - muster_data_##name)}; \
  }
// NOLINTEND(bugprone-reserved-identifier)

MUSTER_EMBEDDED(k8s_schema)
MUSTER_EMBEDDED(discovery)
MUSTER_EMBEDDED(table_columns)
MUSTER_EMBEDDED(jobset)
MUSTER_EMBEDDED(kueue)
MUSTER_EMBEDDED(descriptions)
