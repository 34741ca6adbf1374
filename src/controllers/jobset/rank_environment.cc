#include "controllers/jobset/rank_environment.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "api/views/job_names.h"
#include "controllers/jobset/names.h"

namespace muster::controllers::jobset {
namespace {

using json::Arena;
using json::Value;

bool has_ranks(std::string_view asked, const api::ReplicatedJob& entry) {
  return asked == "true" || asked == entry.name;
}

std::int64_t indexes(const api::ReplicatedJob& entry) {
  return entry.completions.value_or(entry.parallelism);
}

// Where the pod of rank 0 is, unless the set names another; empty if pods have no names.
std::string master_address(const api::JobSet& set, std::string_view asked) {
  if (!has_hostnames(set)) return {};
  if (set.coordinator) return coordinator_endpoint(set);
  for (const api::ReplicatedJob& entry : set.replicated_jobs) {
    if (has_ranks(asked, entry) && entry.replicas > 0)
      return fmt::format("{}-0.{}", job_name(set, entry.name, 0), subdomain(set));
  }
  return {};
}

Value variable(Arena& arena, std::string_view name) {
  const Value out = Value::object(arena, 2);
  out.set("name", name);
  return out;
}

Value text_variable(Arena& arena, std::string_view name, std::string_view value) {
  const Value out = variable(arena, name);
  out.set("value", value);
  return out;
}

Value annotation_variable(Arena& arena, std::string_view name, std::string_view annotation) {
  const Value out = variable(arena, name);
  out.object_at("valueFrom")
      .object_at("fieldRef")
      .set("fieldPath", fmt::format("metadata.annotations['{}']", annotation));
  return out;
}

std::vector<Value> variables(Value spec, const api::JobSet& set, const Ranks& ranks,
                             std::string_view master_port) {
  Arena& arena = spec.arena();
  std::vector<Value> out;
  if (spec.get("completionMode").as_string() == "Indexed") {
    // The rank is the index where nothing has to be added: that needs nobody's help.
    const bool index_is_rank = ranks.first == 0 && ranks.world == ranks.per_job;
    const std::string_view rank = index_is_rank ? api::kCompletionIndex : annotation::kRank;
    for (const std::string_view name : {"RANK", "NODE_RANK"})
      out.push_back(annotation_variable(arena, name, rank));
  }
  out.push_back(text_variable(arena, "WORLD_SIZE", std::to_string(ranks.world)));
  out.push_back(text_variable(arena, "LOCAL_RANK", "0"));  // a pod is one of the world
  const std::string asked(set.meta.annotation(annotation::kRankEnvironment).value_or(""));
  if (const std::string address = master_address(set, asked); !address.empty())
    out.push_back(text_variable(arena, "MASTER_ADDR", address));
  out.push_back(text_variable(arena, "MASTER_PORT", master_port));
  return out;
}

bool says(Value container, std::string_view name) {
  for (const Value own : container.get("env").items()) {
    if (own.get("name").as_string() == name) return true;
  }
  return false;
}

}  // namespace

std::optional<Ranks> ranks_of(const api::JobSet& set, const api::ReplicatedJob& entry) {
  const auto asked = set.meta.annotation(annotation::kRankEnvironment);
  if (!asked || !has_ranks(*asked, entry)) return std::nullopt;
  Ranks out{.per_job = indexes(entry)};
  for (const api::ReplicatedJob& each : set.replicated_jobs) {
    if (&each == &entry) out.first = out.world;
    if (has_ranks(*asked, each)) out.world += each.replicas * indexes(each);
  }
  return out;
}

void add_rank_environment(Value spec, const api::JobSet& set, const Ranks& ranks,
                          std::string_view master_port) {
  const std::vector<Value> ours = variables(spec, set, ranks, master_port);
  const Value pod = spec.get({"template", "spec"});
  for (const std::string_view list : {"initContainers", "containers"}) {
    for (const Value container : pod.get(list).items()) {
      std::size_t at = 0;
      for (const Value each : ours) {
        if (!says(container, each.get("name").as_string()))
          container.array_at("env").insert(at++, each);
      }
    }
  }
}

}  // namespace muster::controllers::jobset
