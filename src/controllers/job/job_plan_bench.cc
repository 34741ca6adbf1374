// How long one look at a large Job takes.
#include <benchmark/benchmark.h>

#include "controllers/job/plan.h"
#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace {

using testing::job;
using testing::pod;
using testing::pointers;

std::vector<Pod> make_pods(std::int64_t count, bool ended) {
  std::vector<Pod> pods;
  for (std::int64_t i = 0; i < count; ++i) {
    auto text = pod(i);
    pods.push_back(ended ? text.succeeded() : text.ready());
  }
  return pods;
}

Job large_job(std::int64_t pods, std::int64_t done) {
  return job(fmt::format(R"("completionMode":"Indexed","parallelism":{0},"completions":{0})", pods),
             fmt::format(R"("active":{},"ready":{},"terminating":0,"uncountedTerminatedPods":{{}},)"
                         R"("startTime":"2026-03-01T00:00:00Z")",
                         pods - done, pods - done));
}

void look(benchmark::State& state, bool ended) {
  const auto pods = make_pods(state.range(0), ended);
  const auto controlled = pointers(pods);
  const Job j = large_job(state.range(0), 0);
  api::Resource jobs, pod_kind;
  for (auto _ : state) {
    benchmark::DoNotOptimize(plan({&jobs, &pod_kind}, {.job = j,
                                                       .controlled = controlled,
                                                       .uncontrolled = {},
                                                       .backoff = {},
                                                       .now = testing::kStart}));
  }
}

void AllReadyNothingToDo(benchmark::State& state) { look(state, false); }
BENCHMARK(AllReadyNothingToDo)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond);

void AllSucceededAtOnce(benchmark::State& state) { look(state, true); }
BENCHMARK(AllSucceededAtOnce)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond);

void FirstPods(benchmark::State& state) {
  const Job j = large_job(10'000, 10'000);
  api::Resource jobs, pod_kind;
  for (auto _ : state) {
    benchmark::DoNotOptimize(plan(
        {&jobs, &pod_kind},
        {.job = j, .controlled = {}, .uncontrolled = {}, .backoff = {}, .now = testing::kStart}));
  }
}
BENCHMARK(FirstPods)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::controllers::job
