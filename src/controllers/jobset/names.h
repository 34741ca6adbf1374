// The names, labels and annotations by which users, Kueue and tools know a JobSet's objects (spec:
// jobset 4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/views/job_set_names.h"
#include "api/views/views.h"

namespace muster::controllers::jobset {

inline constexpr std::string_view kApiVersion = "jobset.x-k8s.io/v1alpha2";
inline constexpr std::string_view kKind = "JobSet";
// The value of spec.managedBy that means us, as an absent one does.
inline constexpr std::string_view kManager = "jobset.sigs.k8s.io/jobset-controller";

namespace label = api::label;
namespace annotation = api::annotation;

// On nodes that were given to one Job by hand (4.6).
inline constexpr std::string_view kNamespacedJob = "alpha.jobset.sigs.k8s.io/namespaced-job";
inline constexpr std::string_view kNoScheduleTaint = "alpha.jobset.sigs.k8s.io/no-schedule";

// On every Job: of what its template said when it was made or resumed (template_digest).
inline constexpr std::string_view kTemplateDigest = "muster.dev/template";

std::string job_name(const api::JobSet& set, std::string_view replicated_job, std::int32_t index);
// Tells the Jobs of all namespaces apart.
std::string job_key(std::string_view ns, std::string_view job_name);
std::string claim_name(std::string_view template_name, const api::JobSet& set);

bool has_hostnames(const api::JobSet& set);
// Of its pods; also the name of the headless Service.
std::string_view subdomain(const api::JobSet& set);
// Where the coordinator's pod can be reached. The set must have one.
std::string coordinator_endpoint(const api::JobSet& set);

}  // namespace muster::controllers::jobset
