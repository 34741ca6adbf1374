// How fast the store writes and reads, how soon it starts, and what an object costs in memory.
//
//   ninja store_bench && ./src/store/store_bench
//
// Durable writes go to $MUSTER_BENCH_DIR, or to /var/tmp: choose a real disk.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <semaphore>

#include "store/durability.h"
#include "store/object_text.h"
#include "store/open_store.h"

namespace muster::store {
namespace {

constexpr std::size_t kObjects = 100'000;
constexpr std::size_t kObjectBytes = 4'096;

std::vector<ResourceName> resources() { return {{"", "pods"}}; }

Key pod_key(std::size_t number) {
  return {0, fmt::format("team-{}", number % 20), fmt::format("train-workers-{}-x7k2p", number)};
}

// A Pod's metadata, and as many variables as make it about the wanted size: text of the usual
// density, for what parses it.
Write pod_write(std::size_t number, std::size_t bytes, Revision expected = 0) {
  Write write{.key = pod_key(number), .expected = expected};
  write.head = fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"{}",)"
      R"("uid":"5c0b5a5e-6a3e-4a57-9d0e-{:012}","creationTimestamp":"2026-11-15T09:45:40Z",)"
      R"("labels":{{"jobset.sigs.k8s.io/jobset-name":"train","jobset.sigs.k8s.io/job-index":"{}"}},"resourceVersion":")",
      write.key.name, write.key.ns, number, number);
  write.tail = R"("},"spec":{"containers":[{"name":"main","env":[{"name":"V","value":"v"})";
  constexpr std::string_view kVariable = R"(,{"name":"VARIABLE","value":"the value of it"})";
  while (write.head.size() + write.tail.size() + kVariable.size() < bytes) write.tail += kVariable;
  write.tail += "]}]}}";
  return write;
}

// Keeps `window` writes in flight, as that many clients would.
void write_pods(Store& store, std::size_t from, std::size_t to, std::size_t bytes,
                std::ptrdiff_t window) {
  std::counting_semaphore<> room(window);
  for (std::size_t i = from; i < to; ++i) {
    room.acquire();
    store.submit(pod_write(i, bytes), [&](const Result<ObjectPtr>& written) {
      if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
      room.release();
    });
  }
  for (std::ptrdiff_t i = 0; i < window; ++i) room.acquire();
}

class BenchDirectory {
 public:
  BenchDirectory() {
    const char* parent = std::getenv("MUSTER_BENCH_DIR");
    path_ = fmt::format("{}/muster-bench-{}", parent == nullptr ? "/var/tmp" : parent, getpid());
    std::filesystem::remove_all(path_);
  }
  ~BenchDirectory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::unique_ptr<Store> open(std::unique_ptr<Durability> disk, Metrics& metrics) {
  auto store = open_store(std::move(disk), resources(), real_clock(), metrics, {}, fault_in_text);
  MUSTER_ASSERT(store.has_value(), "the store opens");
  return std::move(*store);
}
std::unique_ptr<Store> open_disk(const std::string& path, Metrics& metrics) {
  auto disk = open_sqlite(path);
  MUSTER_ASSERT(disk.has_value(), "the directory opens");
  return open(std::move(*disk), metrics);
}

// In memory, shared by the reading benchmarks.
Store& full_store() {
  static Metrics metrics;
  static const std::unique_ptr<Store> store = [] {
    auto fresh = open(make_memory_durability(), metrics);
    write_pods(*fresh, 0, kObjects, kObjectBytes, 1'000);
    return fresh;
  }();
  return *store;
}

// --- Memory: first, so that nothing else has been allocated ---

std::size_t resident_bytes() {
  malloc_trim(0);
  std::size_t total = 0, resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu %zu", &total, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void report_memory(benchmark::State& state, const Store& store, std::size_t before) {
  std::size_t json = 0;
  store.snapshot()->scan(0, {},
                         [&](const ObjectPtr& o) { return json += o->bytes().size(), true; });
  const auto used = static_cast<double>(resident_bytes() - before);
  state.counters["bytes_per_object"] = used / kObjects;
  state.counters["ratio_to_json"] = used / static_cast<double>(json);
}

void BM_MemoryAfterCreating(benchmark::State& state) {
  const BenchDirectory dir;
  Metrics metrics;
  const std::size_t before = resident_bytes();
  for (auto _ : state) {
    auto store = open_disk(dir.path(), metrics);
    write_pods(*store, 0, kObjects, kObjectBytes, 1'000);
    report_memory(state, *store, before);
  }
}
BENCHMARK(BM_MemoryAfterCreating)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

// Every object is written three times: the history is as full as it may be.
void BM_MemoryWithHistory(benchmark::State& state) {
  Metrics metrics;
  const std::size_t before = resident_bytes();
  for (auto _ : state) {
    auto store = open(make_memory_durability(), metrics);
    write_pods(*store, 0, kObjects, kObjectBytes, 1'000);
    for (int round = 0; round < 2; ++round) {
      const SnapshotPtr now = store->snapshot();
      std::counting_semaphore<> room(1'000);
      for (std::size_t i = 0; i < kObjects; ++i) {
        room.acquire();
        store->submit(pod_write(i, kObjectBytes, now->get(pod_key(i))->revision()),
                      [&](const Result<ObjectPtr>&) { room.release(); });
      }
      for (int i = 0; i < 1'000; ++i) room.acquire();
    }
    report_memory(state, *store, before);
  }
}
BENCHMARK(BM_MemoryWithHistory)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

// --- Writing ---

void BM_DurablePut(benchmark::State& state) {
  const BenchDirectory dir;
  Metrics metrics;
  auto store = open_disk(dir.path(), metrics);
  const std::ptrdiff_t window = state.range(0);
  const auto bytes = static_cast<std::size_t>(state.range(1));
  const std::size_t batch = window == 1 ? 500 : 10'000;
  std::size_t written = 0;
  for (auto _ : state) {
    write_pods(*store, written, written + batch, bytes, window);
    written += batch;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(written));
}
BENCHMARK(BM_DurablePut)
    ->ArgNames({"in_flight", "bytes"})
    ->ArgsProduct({{1, 16, 256, 1'024}, {2'048, 4'096}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// All pods of a gang in one list.
void BM_DurableList(benchmark::State& state) {
  const BenchDirectory dir;
  Metrics metrics;
  auto store = open_disk(dir.path(), metrics);
  const auto pods = static_cast<std::size_t>(state.range(0));
  std::size_t written = 0;
  for (auto _ : state) {
    std::vector<Write> list;
    for (std::size_t i = 0; i < pods; ++i) list.push_back(pod_write(written + i, kObjectBytes));
    std::binary_semaphore done(0);
    store->submit(std::move(list), [&](const ListResult& answer) {
      if (!answer) std::fprintf(stderr, "%s\n", answer.error().error.message.c_str());
      done.release();
    });
    done.acquire();
    written += pods;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(written));
}
BENCHMARK(BM_DurableList)
    ->ArgName("pods")
    ->Arg(64)
    ->Arg(4'096)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void BM_PutInMemory(benchmark::State& state) {
  Metrics metrics;
  auto store = open(make_memory_durability(), metrics);
  std::size_t written = 0;
  for (auto _ : state) {
    write_pods(*store, written, written + 10'000, 2'048, state.range(0));
    written += 10'000;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(written));
}
BENCHMARK(BM_PutInMemory)->Arg(1)->Arg(256)->UseRealTime()->Unit(benchmark::kMillisecond);

// --- Reading ---

void BM_TakeSnapshot(benchmark::State& state) {
  Store& store = full_store();
  for (auto _ : state) benchmark::DoNotOptimize(store.snapshot());
}
BENCHMARK(BM_TakeSnapshot)->Threads(1)->Threads(2);

void BM_Get(benchmark::State& state) {
  const SnapshotPtr snapshot = full_store().snapshot();
  std::size_t i = 0;
  std::vector<Key> keys;
  for (std::size_t k = 0; k < kObjects; ++k) keys.push_back(pod_key(k));
  for (auto _ : state) {
    benchmark::DoNotOptimize(snapshot->get(keys[i]));
    i = (i + 7'919) % kObjects;
  }
}
BENCHMARK(BM_Get);

void BM_Scan(benchmark::State& state) {
  const SnapshotPtr snapshot = full_store().snapshot();
  for (auto _ : state) {
    std::size_t bytes = 0;
    snapshot->scan(0, {}, [&](const ObjectPtr& o) { return bytes += o->bytes().size(), true; });
    benchmark::DoNotOptimize(bytes);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kObjects));
}
BENCHMARK(BM_Scan)->Unit(benchmark::kMillisecond);

void BM_CountNamespace(benchmark::State& state) {
  const SnapshotPtr snapshot = full_store().snapshot();
  for (auto _ : state) benchmark::DoNotOptimize(snapshot->count(0, "team-7"));
}
BENCHMARK(BM_CountNamespace);

// --- Starting again (R11) ---

void BM_Open(benchmark::State& state) {
  const BenchDirectory dir;
  Metrics metrics;
  {
    auto store = open_disk(dir.path(), metrics);
    write_pods(*store, 0, kObjects, kObjectBytes, 1'000);
  }
  for (auto _ : state) {
    auto store = open_disk(dir.path(), metrics);
    state.PauseTiming();
    store.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(BM_Open)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace muster::store
