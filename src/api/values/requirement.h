// One requirement of a label selector: whether it is sound, and its text form. The inner side of
// selector.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "api/values/selector.h"
#include "base/result.h"

namespace muster::api {

// The bound of kGreater and kLess, and what is held against it.
std::optional<std::int64_t> to_integer(std::string_view text);

// Fails with kBadRequest, in upstream's words.
Status check_requirement(const Requirement& requirement);

// Of the label that the requirement names: its value, nothing if there is no such label.
bool is_met(const Requirement& requirement, std::optional<std::string_view> value);

// `a=b,c in (d,e),!f`: each checked, in the order of their keys. Fails with kBadRequest.
Result<std::vector<Requirement>> parse_requirements(std::string_view text);

}  // namespace muster::api
