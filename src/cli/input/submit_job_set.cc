#include "cli/input/submit_job_set.h"

#include <fmt/format.h>

#include "api/views/job_set_names.h"
#include "base/ascii.h"
#include "json/yaml.h"

namespace muster::cli {
namespace {

using json::Value;

constexpr std::size_t kMaxPrefix = 30;

// "train.py" of "/home/me/train.py" as the beginning of a name: "train-py-".
std::string prefix_of(std::string_view program) {
  if (const std::size_t slash = program.rfind('/'); slash != program.npos)
    program.remove_prefix(slash + 1);
  std::string out;
  for (const char c : lower_case(program.substr(0, kMaxPrefix))) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain) {
      out += c;
    } else if (!out.empty() && !out.ends_with('-')) {
      out += '-';
    }
  }
  while (out.ends_with('-')) out.pop_back();
  const bool starts_well = !out.empty() && out[0] >= 'a';
  return (starts_well ? out : "job" + std::string(out.empty() ? "" : "-") + out) + "-";
}

void add_resources(Value container, const Submission& submission) {
  const bool any = submission.gpus > 0 || !submission.cpus.empty() || !submission.memory.empty();
  if (!any) return;
  const Value resources = container.object_at("resources");
  const Value requests = resources.object_at("requests");
  if (!submission.cpus.empty()) requests.set("cpu", submission.cpus);
  if (!submission.memory.empty()) requests.set("memory", submission.memory);
  if (submission.gpus == 0) return;
  requests.set("nvidia.com/gpu", std::to_string(submission.gpus));
  resources.object_at("limits").set("nvidia.com/gpu", std::to_string(submission.gpus));
}

Status add_environment(Value container, const Submission& submission) {
  for (const std::string& entry : submission.environment) {
    const std::size_t equal = entry.find('=');
    if (equal == std::string::npos || equal == 0)
      return fail(Code::kInvalid, fmt::format("--env {}: it takes NAME=VALUE", entry));
    const Value variable = Value::object(container.arena());
    variable.set("name", std::string_view(entry).substr(0, equal));
    variable.set("value", std::string_view(entry).substr(equal + 1));
    container.array_at("env").push_back(variable);
  }
  return {};
}

Result<Value> container_for(json::Arena& arena, const Submission& submission) {
  const Value container = Value::object(arena);
  container.set("name", "main");
  container.set("image", submission.image);
  const Value command = container.array_at("command");
  for (const std::string& word : submission.command) command.push_back(Value::string(arena, word));
  if (!submission.working_directory.empty())
    container.set("workingDir", submission.working_directory);
  MUSTER_CHECK(add_environment(container, submission));
  add_resources(container, submission);
  return container;
}

void set_metadata(Value set, const Submission& submission) {
  const Value metadata = set.object_at("metadata");
  if (submission.name.empty()) {
    metadata.set("generateName", prefix_of(submission.command.front()));
  } else {
    metadata.set("name", submission.name);
  }
  if (!submission.queue.empty())
    metadata.object_at("labels").set("kueue.x-k8s.io/queue-name", submission.queue);
  // A program that looks at its rank does so when it is alone, too.
  metadata.object_at("annotations").set(api::annotation::kRankEnvironment, "true");
}

}  // namespace

Result<std::string> submitted_job_set(const Submission& submission) {
  if (submission.command.empty())
    return fail(Code::kInvalid, "say what to run: muster submit -N 4 -- PROGRAM ARGUMENT...");
  if (submission.processes < 1 || submission.processes > kMaxProcesses)
    return fail(Code::kInvalid, fmt::format("-N: from 1 to {} processes", kMaxProcesses));
  json::Arena arena;
  const Value set = Value::object(arena);
  set.set("apiVersion", "jobset.x-k8s.io/v1alpha2");
  set.set("kind", "JobSet");
  set_metadata(set, submission);
  const Value spec = set.object_at("spec");
  if (submission.processes > 1) spec.set("groupSchedulingConfig", Value::object(arena));
  if (submission.max_restarts > 0)
    spec.object_at("failurePolicy").set("maxRestarts", Value::of(submission.max_restarts));
  const Value entry = Value::object(arena);
  entry.set("name", "main");
  const Value job = entry.object_at("template").object_at("spec");
  job.set("parallelism", Value::of(submission.processes));
  job.set("completions", Value::of(submission.processes));
  job.set("backoffLimit", Value::of(0));
  const Value pod = job.object_at("template").object_at("spec");
  pod.set("restartPolicy", "Never");
  MUSTER_TRY(const Value container, container_for(arena, submission));
  pod.array_at("containers").push_back(container);
  spec.array_at("replicatedJobs").push_back(entry);
  return json::write_yaml(set);
}

}  // namespace muster::cli
