// Names on the wire that tie pods to their Job (spec: job 0).
#pragma once

#include <string_view>

namespace muster::api {

namespace label {
inline constexpr std::string_view kControllerUid = "batch.kubernetes.io/controller-uid";
inline constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";
inline constexpr std::string_view kOldControllerUid = "controller-uid";
inline constexpr std::string_view kOldJobName = "job-name";
}  // namespace label

// A label and an annotation.
inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";

}  // namespace muster::api
