// Priority: from the name of a priority class to its number and preemption policy.
#pragma once

#include "admission/kind.h"

namespace muster::admission {

constexpr std::int64_t kHighestUserPriority = 1'000'000'000;

Status admit_pod_priority(const Context& context, Value pod, Value old);
Status admit_pod_group_priority(const Context& context, Value group);

// The classes that exist without being stored, or 0 if it is none of them.
std::int64_t system_priority(std::string_view class_name);

}  // namespace muster::admission
