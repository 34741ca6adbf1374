// For tests only: JobSets in few words.
//
//   jobset({job("driver"), job("workers", {.replicas = 4, .more = R"("dependsOn": […])"})})
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "admission/testing.h"

namespace muster::admission {

inline constexpr std::string_view kJobSetVersion = "jobset.x-k8s.io/v1alpha2";

struct JobText {
  int replicas = 1;
  std::string_view spec = R"("parallelism": 2, "completions": 2)";  // of the Job
  std::string_view pod = R"("containers": [{"name": "c", "image": "i"}])";
  std::string_view pod_metadata = "{}";
  std::string_view more = R"("groupName": "default")";  // of the entry
};

inline std::string job(std::string_view name, const JobText& text = {}) {
  return fmt::format(
      R"({{"name": "{}", "replicas": {}, {}, "template": {{"spec": {{{}{}
          "template": {{"metadata": {}, "spec": {{{}}}}}}}}}}})",
      name, text.replicas, text.more, text.spec, text.spec.empty() ? "" : ",", text.pod_metadata,
      text.pod);
}

// `more` are further members of the spec, each followed by a comma.
inline std::string jobset(const std::vector<std::string>& jobs, std::string_view more = "",
                          std::string_view name = "js") {
  return fmt::format(R"({{"metadata": {{"name": "{}"}}, "spec": {{{} "replicatedJobs": [{}]}}}})",
                     name, more, fmt::join(jobs, ", "));
}

// What is wrong, without the words that all refusals start with.
inline std::string fault_of(const Outcome& outcome) {
  const std::string message = outcome.message();
  constexpr std::string_view kInvalid = " is invalid: ";
  const auto at = message.find(kInvalid);
  return at == std::string::npos ? message : message.substr(at + kInvalid.size());
}

}  // namespace muster::admission
