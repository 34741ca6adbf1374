// Reading and writing one realistic Pod: the hot path of every request.
#include <benchmark/benchmark.h>

#include <string>

#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"

namespace muster::json {
namespace {

// About 4.5 kB, with managedFields, as an API server would hold it.
std::string make_pod() {
  Arena arena;
  const Value pod = Value::object(arena);
  pod.set("apiVersion", "v1");
  pod.set("kind", "Pod");
  const Value metadata = pod.object_at("metadata");
  metadata.set("name", "train-workers-0-3-x7k2p");
  metadata.set("namespace", "research");
  metadata.set("uid", "5f0b3c1e-8d4a-4c77-9a61-0b5f5e4f7c21");
  metadata.set("resourceVersion", "184467");
  metadata.set("creationTimestamp", "2026-11-15T09:45:40Z");
  for (int i = 0; i < 12; ++i)
    metadata.object_at("labels").set("jobset.sigs.k8s.io/label-" + std::to_string(i), "value");
  for (int i = 0; i < 6; ++i)
    metadata.object_at("annotations").set("example.com/annotation-" + std::to_string(i), "text");
  const Value entry = Value::object(arena);
  entry.set("manager", "muster");
  entry.set("operation", "Update");
  entry.set("time", "2026-11-15T09:45:40Z");
  const Value labels = entry.object_at("fieldsV1").object_at("f:metadata").object_at("f:labels");
  labels.set(".", Value::object(arena));
  for (int i = 0; i < 40; ++i)
    labels.set("f:jobset.sigs.k8s.io/label-" + std::to_string(i), Value::object(arena));
  metadata.array_at("managedFields").push_back(entry);
  const Value container = Value::object(arena);
  container.set("name", "main");
  container.set("image", "registry.example.com/research/train:2026.11");
  for (int i = 0; i < 24; ++i) {
    const Value variable = Value::object(arena);
    variable.set("name", "VARIABLE_" + std::to_string(i));
    variable.set("value", "the value of it");
    container.array_at("env").push_back(variable);
  }
  container.object_at("resources").object_at("limits").set("cpu", "4");
  container.object_at("resources").object_at("limits").set("memory", "16Gi");
  for (int i = 0; i < 4; ++i) {
    const Value mount = Value::object(arena);
    mount.set("name", "volume-" + std::to_string(i));
    mount.set("mountPath", "/var/data/" + std::to_string(i));
    mount.set("readOnly", Value::of(true));
    container.array_at("volumeMounts").push_back(mount);
  }
  pod.object_at("spec").array_at("containers").push_back(container);
  pod.object_at("spec").set("terminationGracePeriodSeconds", Value::of(30));
  for (int i = 0; i < 4; ++i) {
    const Value condition = Value::object(arena);
    condition.set("type", "Condition" + std::to_string(i));
    condition.set("status", "True");
    condition.set("lastTransitionTime", "2026-11-15T09:45:40Z");
    condition.set("observedGeneration", Value::of(1));
    pod.object_at("status").array_at("conditions").push_back(condition);
  }
  return write(pod);
}

void BM_Parse(benchmark::State& state) {
  const std::string text = make_pod();
  for (auto _ : state) {
    Arena arena;
    benchmark::DoNotOptimize(parse(arena, text));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(BM_Parse);

void BM_Write(benchmark::State& state) {
  const std::string text = make_pod();
  Arena arena;
  const Value pod = *parse(arena, text);
  for (auto _ : state) benchmark::DoNotOptimize(write(pod));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(BM_Write);

void BM_ParseAndWrite(benchmark::State& state) {
  const std::string text = make_pod();
  for (auto _ : state) {
    Arena arena;
    benchmark::DoNotOptimize(write(*parse(arena, text)));
  }
  state.counters["bytes"] = static_cast<double>(text.size());
}
BENCHMARK(BM_ParseAndWrite);

void BM_Clone(benchmark::State& state) {
  const std::string text = make_pod();
  Arena arena;
  const Value pod = *parse(arena, text);
  for (auto _ : state) {
    Arena copy;
    benchmark::DoNotOptimize(clone(copy, pod));
  }
}
BENCHMARK(BM_Clone);

}  // namespace
}  // namespace muster::json
