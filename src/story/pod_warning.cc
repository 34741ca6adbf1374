#include "story/pod_warning.h"

#include "api/views/event_reasons.h"
#include "base/terminal_text.h"

namespace muster::story {

std::optional<PodWarning> pod_warning(json::Value event) {
  const std::string_view reason = event.get("reason").as_string();
  const bool is_fault = reason == "FailedMount" || reason == "FailedCreatePodSandBox";
  const bool is_remark = reason == api::kImageIgnored || reason == api::kLimitsNotEnforced;
  if (!is_fault && !is_remark) return std::nullopt;
  return PodWarning{.reason = std::string(reason),
                    .message = plain_text(event.get("message").as_string()),
                    .kind = is_fault ? PodWarning::Kind::kFault : PodWarning::Kind::kRemark};
}

}  // namespace muster::story
