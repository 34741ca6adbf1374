// What ownership costs on the way of a write, with a Pod of 4 kB.
#include <benchmark/benchmark.h>

#include "base/time.h"
#include "fields/managed_fields.h"
#include "fields/testing.h"

namespace muster::fields {
namespace {

using json::Value;

Writer writer_on(std::string_view subresource) {
  return {.manager = "bench",
          .subresource = subresource,
          .resource = &resource("v1", "Pod"),
          .now = *parse_time("2026-11-15T10:00:00Z")};
}

// The Pod as it is stored after its creation.
Value stored_pod(json::Arena& arena, const json::Tree& pod) {
  const Value live = json::clone(arena, pod);
  track_update(arena, writer_on(""), Value(), live);
  live.get("metadata").set("uid", "5b0d7a53-9d3c-4a1f-8a75-0c1c1b7c0a12");
  return live;
}

void create(benchmark::State& state) {
  const json::Tree pod(read_testdata("pod.json"));
  const Writer writer = writer_on("");
  for (auto _ : state) {
    json::Arena arena;
    pod.root.get("metadata").erase("managedFields");
    track_update(arena, writer, Value(), pod);
    benchmark::DoNotOptimize(arena.used());
  }
}
BENCHMARK(create);

void update_of_status(benchmark::State& state) {
  const json::Tree pod(read_testdata("pod.json"));
  json::Arena kept;
  const Value live = stored_pod(kept, pod);
  const Value entries = live.get({"metadata", "managedFields"});
  const Value updated = json::clone(kept, live);
  updated.get("status").set("phase", "Running");
  const Writer writer = writer_on("status");
  for (auto _ : state) {
    json::Arena arena;
    updated.get("metadata").set("managedFields", entries);
    track_update(arena, writer, live, updated);
    benchmark::DoNotOptimize(arena.used());
  }
}
BENCHMARK(update_of_status);

void apply_of_two_fields(benchmark::State& state) {
  const json::Tree pod(read_testdata("pod.json"));
  json::Arena kept;
  const Value live = stored_pod(kept, pod);
  const json::Tree config(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},"spec":{"activeDeadlineSeconds":5}})");
  const Writer writer = writer_on("");
  for (auto _ : state) {
    json::Arena arena;
    benchmark::DoNotOptimize(apply(arena, writer, live, config, false));
  }
}
BENCHMARK(apply_of_two_fields);

}  // namespace
}  // namespace muster::fields
