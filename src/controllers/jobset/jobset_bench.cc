// What planning costs for large JobSets: with nothing to do, and with all Jobs to be made.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "controllers/jobset/names.h"
#include "controllers/jobset/plan.h"
#include "json/parse.h"

namespace muster::controllers::jobset {
namespace {

// Four replicated jobs of equal size.
api::JobSet large_set(int jobs) {
  std::string entries;
  for (int i = 0; i < 4; ++i) {
    entries += fmt::format(
        R"({}{{"name": "w{}", "replicas": {}, "groupName": "default", "template": {{"spec": {{
           "parallelism": 8, "completions": 8, "completionMode": "Indexed", "backoffLimit": 0,
           "template": {{"metadata": {{"labels": {{"app": "train"}}}}, "spec": {{
             "restartPolicy": "Never", "nodeSelector": {{"accelerator": "a100"}},
             "containers": [{{"name": "main", "image": "example.com/train:1", "command": ["train"],
               "args": ["--epochs", "10"], "env": [{{"name": "A", "value": "1"}}],
               "resources": {{"requests": {{"cpu": "4", "memory": "16Gi"}},
                              "limits": {{"nvidia.com/gpu": "8"}}}}}}]}}}}}}}}}})",
        i == 0 ? "" : ", ", i, jobs / 4);
  }
  json::Arena arena;
  const auto value = json::parse(
      arena, fmt::format(
                 R"({{"metadata": {{"name": "train", "namespace": "ml", "uid": "u"}}, "spec": {{
                    "network": {{"enableDNSHostnames": true}}, "replicatedJobs": [{}]}}}})",
                 entries));
  return api::read_job_set(*value);
}

std::vector<Child> running_children(const api::JobSet& set) {
  std::vector<Child> out;
  for (const api::ReplicatedJob& entry : set.replicated_jobs) {
    for (int i = 0; i < entry.replicas; ++i) {
      Child child;
      child.ns = "ml";
      child.name = job_name(set, entry.name, i);
      child.uid = "u-" + child.name;
      child.replicated_job = entry.name;
      child.job_index = {.present = true, .value = i};
      child.restart_attempt = {.present = true, .value = 0};
      child.parallelism = 8;
      child.completions = 8;
      child.active = child.ready = 8;
      out.push_back(std::move(child));
    }
  }
  return out;
}

Kinds some_kinds() {
  static const api::Resource kAny{};
  return {.job_set = &kAny, .job = &kAny, .service = &kAny, .claim = &kAny};
}

void nothing_to_do(benchmark::State& state) {
  api::JobSet set = large_set(static_cast<int>(state.range(0)));
  const std::vector<Child> children = running_children(set);
  std::vector<const Child*> view;
  for (const Child& child : children) view.push_back(&child);
  set.status =
      plan(some_kinds(), {.set = set, .children = view, .has_service = true}, Time{}).status;
  for (auto _ : state) {
    const Outcome outcome =
        plan(some_kinds(), {.set = set, .children = view, .has_service = true}, Time{});
    if (outcome.plan.has_writes()) state.SkipWithError("there was something to do");
  }
}
BENCHMARK(nothing_to_do)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

void all_to_be_created(benchmark::State& state) {
  const api::JobSet set = large_set(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    const Outcome outcome =
        plan(some_kinds(), {.set = set, .children = {}, .has_service = true}, Time{});
    benchmark::DoNotOptimize(outcome.plan.steps.size());
  }
}
BENCHMARK(all_to_be_created)->Arg(1'000)->Arg(5'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::controllers::jobset
