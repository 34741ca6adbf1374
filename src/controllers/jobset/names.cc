#include "controllers/jobset/names.h"

#include <fmt/format.h>

#include "base/digest.h"

namespace muster::controllers::jobset {

std::string job_name(const api::JobSet& set, std::string_view replicated_job, std::int32_t index) {
  return fmt::format("{}-{}-{}", set.meta.name, replicated_job, index);
}

std::string job_key(std::string_view ns, std::string_view job_name) {
  return hex_digest(DigestKind::kSha1, fmt::format("{}/{}", ns, job_name));
}

std::string claim_name(std::string_view template_name, const api::JobSet& set) {
  return fmt::format("{}-{}", template_name, set.meta.name);
}

bool has_hostnames(const api::JobSet& set) {
  return set.network && set.network->enable_dns_hostnames;
}

std::string_view subdomain(const api::JobSet& set) {
  return set.network && !set.network->subdomain.empty() ? set.network->subdomain : set.meta.name;
}

std::string coordinator_endpoint(const api::JobSet& set) {
  return fmt::format("{}-{}-{}-{}.{}", set.meta.name, set.coordinator->replicated_job,
                     set.coordinator->job_index, set.coordinator->pod_index, subdomain(set));
}

}  // namespace muster::controllers::jobset
