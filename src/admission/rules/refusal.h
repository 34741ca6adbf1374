// The answer of an admission plugin that says no: 403 `pods "x" is forbidden: why`.
#pragma once

#include <fmt/format.h>

#include <string>

#include "admission/admission.h"

namespace muster::admission {

inline Error refusal(const Context& context, std::string_view why) {
  const std::string name(context.name);
  const std::string quoted = name.empty() ? "" : " \"" + name + "\"";
  return Error{
      .code = Code::kForbidden,
      .message = fmt::format("{}{} is forbidden: {}", context.resource->qualified(), quoted, why),
      .name = name,
      .group = context.resource->gvk.group,
      .kind = context.resource->plural};
}

inline std::unexpected<Error> refuse(const Context& context, std::string_view why) {
  return std::unexpected(refusal(context, why));
}

}  // namespace muster::admission
