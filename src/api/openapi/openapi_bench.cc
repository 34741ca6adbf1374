// How long a document takes to make: the largest one, and all of them, as the first client waits
// for.
#include <benchmark/benchmark.h>

#include "api/openapi/openapi.h"

namespace muster::api {
namespace {

void core(benchmark::State& state) {
  const Registry& registry = Registry::builtin();
  for (auto _ : state) benchmark::DoNotOptimize(OpenApi(registry).find("api/v1")->body.size());
}
BENCHMARK(core)->Unit(benchmark::kMillisecond);

void everything(benchmark::State& state) {
  const Registry& registry = Registry::builtin();
  for (auto _ : state) benchmark::DoNotOptimize(OpenApi(registry).index().body.size());
}
BENCHMARK(everything)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::api
