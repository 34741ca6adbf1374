// groupSchedulingConfig (KEP-498) and gangConfig (KEP-1068): what would wait for itself for ever,
// or cannot be expressed, is refused (spec: jobset 8.3, 8.4).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "admission/jobset/jobset.h"
#include "admission/rules/checks.h"
#include "admission/rules/list_index.h"
#include "api/views/job_set_names.h"

namespace muster::admission {
namespace {

Path spec_path() { return Path("spec"); }
constexpr std::string_view kBarrierVolume = "group-scheduling";
constexpr std::size_t kMostGroups = 8;  // of a Workload

// The names of those that wait at the barrier; entries without replicas have no pods to wait.
std::vector<std::string_view> covered_jobs(const JobSetCheck& check, Value config) {
  std::vector<std::string_view> names;
  const std::set<std::string_view> targets = texts_of(config.get("targetReplicatedJobs"));
  for (const Value job : check.spec.get("replicatedJobs").items())
    if ((targets.empty() || targets.contains(text_of(job, "name"))) &&
        int_of(job, "replicas", 1) > 0)
      names.push_back(text_of(job, "name"));
  return names;
}

void check_targets(const JobSetCheck& check, Value targets, const Path& path) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::string_view name = targets.item(i).as_string();
    if (check.replicated_job(name).is_null())
      check.errors.invalid(path.index(i), name,
                           fmt::format("invalid replicatedJob name '{}' does not appear in "
                                       ".spec.ReplicatedJobs",
                                       name));
    if (!seen.insert(name).second) check.errors.duplicate(path.index(i), name);
  }
}

void check_reserved_name(const JobSetCheck& check, Value pod_spec, const Path& path,
                         std::string_view list, std::string_view name) {
  const Value items = pod_spec.get(list);
  for (std::size_t i = 0; i < items.size(); ++i)
    if (text_of(items.item(i), "name") == name)
      check.errors.invalid(path.child(list).index(i).child("name"), name,
                           fmt::format("the {} name is reserved when groupSchedulingConfig is set",
                                       list == "volumes" ? "volume" : "container"));
}

void check_reserved_names(const JobSetCheck& check) {
  const Value jobs = check.spec.get("replicatedJobs");
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const Value pod_spec = jobs.item(j).get({"template", "spec", "template", "spec"});
    const Path path =
        spec_path().child("replicatedJobs").index(j).child("template.spec.template.spec");
    for (const std::string_view list : {"initContainers", "containers", "ephemeralContainers"})
      check_reserved_name(check, pod_spec, path, list, api::kBarrierContainer);
    check_reserved_name(check, pod_spec, path, "volumes", kBarrierVolume);
  }
}

// Everything that must have started before this entry does, directly or not.
std::set<std::string_view> prerequisites(const JobSetCheck& check, std::string_view name) {
  std::set<std::string_view> found;
  std::vector<std::string_view> open = {name};
  while (!open.empty()) {
    const Value job = check.replicated_job(open.back());
    open.pop_back();
    for (const Value dependency : job.get("dependsOn").items())
      if (found.insert(text_of(dependency, "name")).second)
        open.push_back(text_of(dependency, "name"));
  }
  return found;
}

bool in_order(const JobSetCheck& check) {
  return text_of(check.spec.get("startupPolicy"), "startupPolicyOrder") == "InOrder";
}

// Of the pairs that would wait for each other only the first is told: there may be as many as the
// entries squared, and they have one cause.

// Whoever waits at the barrier waits for the coordinator's name too, which it has when it starts.
void check_coordinator_order(const JobSetCheck& check, Value config,
                             const std::vector<std::string_view>& covered) {
  const std::string_view coordinator = text_of(check.spec.get("coordinator"), "replicatedJob");
  if (coordinator.empty() || std::ranges::find(covered, coordinator) != covered.end()) return;
  auto before = prerequisites(check, coordinator);
  if (in_order(check))
    for (const Value job : check.spec.get("replicatedJobs").items()) {
      if (text_of(job, "name") == coordinator) break;
      before.insert(text_of(job, "name"));
    }
  const auto waiting =
      std::ranges::find_if(covered, [&](std::string_view name) { return before.contains(name); });
  if (waiting == covered.end()) return;
  check.errors.invalid(spec_path().child("groupSchedulingConfig"), config,
                       fmt::format("replicatedJob {} of the coordinator starts after {}, "
                                   "which would wait for it at the barrier",
                                   coordinator, *waiting));
}

void check_barrier_dependencies(const JobSetCheck& check, Value config,
                                const std::vector<std::string_view>& covered) {
  const std::set<std::string_view> waits(covered.begin(), covered.end());
  // An entry that waits and must have started before the one that is the key, directly or not.
  // Dependencies point backwards: when an entry is looked at, those before it are known.
  std::map<std::string_view, std::string_view> before;
  for (const Value job : check.spec.get("replicatedJobs").items()) {
    const std::string_view name = text_of(job, "name");
    for (const Value dependency : job.get("dependsOn").items()) {
      const std::string_view target = text_of(dependency, "name");
      if (waits.contains(target)) {
        before.emplace(name, target);
      } else if (const auto through = before.find(target); through != before.end()) {
        before.emplace(name, through->second);
      }
    }
    const auto earlier = before.find(name);
    if (earlier == before.end() || !waits.contains(name)) continue;
    return check.errors.invalid(
        spec_path().child("groupSchedulingConfig"), config,
        fmt::format("replicatedJob {} starts after {} (dependsOn) but both would "
                    "wait for each other at the barrier",
                    name, earlier->second));
  }
}

void check_barrier_order(const JobSetCheck& check, Value config) {
  const std::vector<std::string_view> covered = covered_jobs(check, config);
  if (in_order(check) && covered.size() > 1)
    check.errors.invalid(
        spec_path().child("groupSchedulingConfig"), config,
        fmt::format("replicatedJobs {} and {} start one after the other (startupPolicy "
                    "InOrder) but would wait for each other at the barrier",
                    covered[0], covered[1]));
  check_barrier_dependencies(check, config, covered);
  check_coordinator_order(check, config, covered);
}

std::string_view gang_mode(Value holder) { return text_of(holder.get("gangConfig"), "gangMode"); }
bool has_gang(Value holder) { return !gang_mode(holder).empty() && gang_mode(holder) != "Off"; }

void check_gang_levels(const JobSetCheck& check) {
  if (!has_gang(check.spec)) return;
  const Value jobs = check.spec.get("replicatedJobs");
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (has_gang(jobs.item(i)))
      check.errors.invalid(spec_path().child("replicatedJobs").index(i).child("gangConfig"),
                           jobs.item(i).get("gangConfig"),
                           "may not be set together with spec.gangConfig");
}

void check_foreign_groups(const JobSetCheck& check) {
  const Value jobs = check.spec.get("replicatedJobs");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!has_gang(check.spec) && !has_gang(jobs.item(i))) continue;
    const Value pod_spec = jobs.item(i).get({"template", "spec", "template", "spec"});
    for (const std::string_view key : {"schedulingGroup", "workloadRef"})
      if (has_value(pod_spec, key))
        check.errors.forbidden(
            spec_path()
                .child("replicatedJobs")
                .index(i)
                .child("template.spec.template.spec")
                .child(key),
            "may not be set together with gangConfig: the JobSet makes the group");
  }
}

// One group for the whole set, or one for each entry: all that have a gang, or all if they start in
// turn.
void check_group_count(const JobSetCheck& check) {
  std::size_t groups = 0;
  const Value jobs = check.spec.get("replicatedJobs");
  if (has_gang(check.spec)) {
    groups = is_sequenced(check.spec) ? jobs.size() : 1;
  } else {
    for (const Value job : jobs.items()) groups += has_gang(job) ? 1 : 0;
  }
  if (groups > kMostGroups)
    check.errors.invalid(spec_path().child("replicatedJobs"),
                         Value::of(static_cast<std::int64_t>(groups)),
                         fmt::format("gangConfig makes {} groups, a Workload can have at most {}",
                                     groups, kMostGroups));
}

}  // namespace

void check_group_scheduling(const JobSetCheck& check) {
  const Value config = check.spec.get("groupSchedulingConfig");
  if (!config.is_object()) return;
  const Path path = spec_path().child("groupSchedulingConfig");
  check_targets(check, config.get("targetReplicatedJobs"), path.child("targetReplicatedJobs"));
  check_reserved_names(check);
  check_barrier_order(check, config);
}

void check_rank_environment(const JobSetCheck& check) {
  using api::annotation::kRankEnvironment;
  const Value asked = check.jobset.get({"metadata", "annotations", kRankEnvironment});
  const std::string_view text = asked.as_string();
  if (asked.is_null() || text == "true" || text == "false" || !check.replicated_job(text).is_null())
    return;
  check.errors.invalid(Path("metadata").child("annotations").key(kRankEnvironment), text,
                       "must be true, false or the name of a replicatedJob");
}

void check_gangs(const JobSetCheck& check) {
  check_gang_levels(check);
  check_foreign_groups(check);
  check_group_count(check);
}

}  // namespace muster::admission
