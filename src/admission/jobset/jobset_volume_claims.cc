// The volume claim policies of a JobSet (spec: jobset 2.2, rows 26 to 32).
#include <fmt/format.h>

#include <map>
#include <set>

#include "admission/jobset/jobset.h"
#include "admission/rules/checks.h"
#include "admission/rules/lookup.h"
#include "api/values/quantity.h"

namespace muster::admission {
namespace {

constexpr std::size_t kLongestClaimName = 63;

Value pod_spec_of(Value replicated_job) {
  return replicated_job.get({"template", "spec", "template", "spec"});
}

// What all entries mount, and where they have volumes of their own, by name: each of many claims
// is looked up here.
struct Volumes {
  explicit Volumes(Value jobs) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Value pod_spec = pod_spec_of(jobs.item(i));
      const Value volumes = pod_spec.get("volumes");
      for (std::size_t v = 0; v < volumes.size(); ++v)
        own.emplace(text_of(volumes.item(v), "name"), Place{i, v});
      for (const std::string_view list : {"initContainers", "containers"})
        for (const Value container : pod_spec.get(list).items())
          for (const Value mount : container.get("volumeMounts").items())
            mounted.insert(text_of(mount, "name"));
    }
  }

  struct Place {
    std::size_t job, volume;
  };
  std::multimap<std::string_view, Place> own;
  std::set<std::string_view> mounted;
};

void check_mounts(const JobSetCheck& check, const Volumes& volumes, std::string_view claim) {
  const Path path = Path("spec").child("replicatedJobs");
  const auto [from, to] = volumes.own.equal_range(claim);
  for (auto at = from; at != to; ++at)
    check.errors.invalid(
        path.index(at->second.job)
            .child("template.spec.template.spec.volumes")
            .index(at->second.volume)
            .child("name"),
        claim,
        fmt::format("volume name conflicts with VolumeClaimPolicy template name: {}", claim));
  if (!volumes.mounted.contains(claim))
    check.errors.invalid(
        path, claim,
        fmt::format("replicatedJob containers don't have a matching volumeMount: {} "
                    "from VolumeClaimPolicies",
                    claim));
}

bool same_amount(Value a, Value b) {
  const auto left = api::Quantity::parse(a.as_string());
  const auto right = api::Quantity::parse(b.as_string());
  return left && right && *left == *right;
}

// Everything that the template sets is so in the claim. Upstream compares whole specs, so that a
// claim that it kept itself, completed by the server, is not found equal.
bool asks_for(Value wanted, Value found) {
  if (!wanted.is_object())
    return json::equal(wanted, found) || (wanted.is_string() && same_amount(wanted, found));
  for (const json::Member& member : wanted.members())
    if (!asks_for(member.value, found.get(member.key))) return false;
  return true;
}

void check_existing(const JobSetCheck& check, Value policy, const Path& path, Value claim,
                    const Path& claim_path) {
  const std::string pvc = fmt::format("{}-{}", text_of(claim.get("metadata"), "name"), check.name);
  const Value existing = find_object(
      check.context, check.spec.arena(),
      {.group = "", .plural = "persistentvolumeclaims", .ns = check.context.ns, .name = pvc});
  if (existing.is_null()) return;
  if (!asks_for(claim.get("spec"), existing.get("spec")))
    check.errors.invalid(
        claim_path.child("spec"), claim.get("spec"),
        fmt::format("spec does not match existing PVC {} in namespace {}", pvc, check.context.ns));
  const std::string_view when_deleted = text_of(policy.get("retentionPolicy"), "whenDeleted");
  if (when_deleted != "Retain")
    check.errors.invalid(path.child("retentionPolicy").child("whenDeleted"), when_deleted,
                         "retentionPolicy must be retain when PVC exists");
}

}  // namespace

void check_volume_claims(const JobSetCheck& check) {
  std::set<std::string_view> names;
  const Volumes volumes(check.spec.get("replicatedJobs"));
  const Value policies = check.spec.get("volumeClaimPolicies");
  for (std::size_t p = 0; p < policies.size(); ++p) {
    const Path path = Path("spec").child("volumeClaimPolicies").index(p);
    const Value templates = policies.item(p).get("templates");
    for (std::size_t t = 0; t < templates.size(); ++t) {
      const Value claim = templates.item(t);
      const Path claim_path = path.child("template").index(t);  // so spelled upstream
      const std::string_view name = text_of(claim.get("metadata"), "name");
      const bool is_new = names.insert(name).second;
      if (!is_new)
        check.errors.invalid(claim_path.child("name"), name,
                             "names must be unique for VolumeClaimPolicies template");
      add_faults(check.errors, claim_path.child("name"), name, api::check_dns1123_subdomain(name));
      if (name.size() + 1 + check.name.size() > kLongestClaimName)
        check.errors.invalid(claim_path.child("name"), name,
                             "VolumeClaimPolicies template name is too long");
      // A name that comes twice has the same faults again, as many as there are volumes.
      if (is_new) check_mounts(check, volumes, name);
      check_existing(check, policies.item(p), path, claim, claim_path);
    }
  }
}

}  // namespace muster::admission
