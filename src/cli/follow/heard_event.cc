#include "cli/follow/heard_event.h"

#include "base/terminal_text.h"
#include "story/pod_warning.h"

namespace muster::cli {

std::optional<FollowEvent> heard_event(json::Value warning) {
  const json::Value about = warning.get("involvedObject");
  const std::string_view kind = about.get("kind").as_string();
  const std::string_view reason = warning.get("reason").as_string();
  const std::string message = plain_text(warning.get("message").as_string());
  if (kind == "Pod") {
    // A pod whose volumes cannot be made waits like any other; only its events tell why.
    auto of_pod = story::pod_warning(warning);
    if (!of_pod) return std::nullopt;
    return event::PodWarned{.uid = std::string(about.get("uid").as_string()),
                            .warning = *std::move(of_pod)};
  }
  if (kind == "Job" && reason == "FailedCreate")
    return event::JobWarned{
        .job = std::string(about.get("name").as_string()),
        .message = message,
        .created = parse_time(warning.get({"metadata", "creationTimestamp"}).as_string())};
  if (kind == "JobSet" && reason == "JobCreationFailed" && message.contains(" is invalid"))
    return event::JobsRefused{.job_set_uid = std::string(about.get("uid").as_string()),
                              .message = message};
  return std::nullopt;
}

}  // namespace muster::cli
