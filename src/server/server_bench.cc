// What one request costs the thread that answers it, store included (in memory, committed inline).
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "server/testing.h"

namespace muster::server {
namespace {

using testing::TestServer;

constexpr const char* kPods = "/api/v1/namespaces/a/pods";

std::string pod(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","labels":{"app":"x","tier":"1"}},"spec":{"containers":[{"name":"c","image":"example.com/app:1","command":["sleep","60"],)"
         R"("env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"resources":{"requests":{"cpu":"1","memory":"1Gi"}}}],)"
         R"("restartPolicy":"Never"}})";
}

// A worker of a training job, as in bench/apiserver: 4 kB when stored.
std::string worker(const std::string& name) {
  std::string env;
  for (int i = 0; i < 7; ++i) {
    env += fmt::format(
        R"({}{{"name":"TRAINING_SETTING_{:02}","value":"a value of ordinary length {:02}"}})",
        i == 0 ? "" : ",", i, i);
  }
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","labels":{"app":"training","team":"research","jobset.sigs.k8s.io/jobset-name":"training",)"
         R"("jobset.sigs.k8s.io/replicatedjob-name":"workers","batch.kubernetes.io/job-completion-index":"17"},)"
         R"("annotations":{"example.com/checkpoint":"s3://bucket/checkpoints/run-000017/step-001000","example.com/owner":"someone@example.com"}},)"
         R"("spec":{"restartPolicy":"Never","automountServiceAccountToken":false,"subdomain":"training",)"
         R"("containers":[{"name":"worker","image":"registry.example.com/training/worker:1.2.3","command":["python3","-m","training.main"],)"
         R"("args":["--epochs=10","--batch-size=512","--learning-rate=0.001"],"env":[)" +
         env +
         R"(],"ports":[{"containerPort":8080,"name":"metrics"},{"containerPort":29500,"name":"rendezvous"}],)"
         R"("resources":{"limits":{"cpu":"8","memory":"32Gi"},"requests":{"cpu":"8","memory":"32Gi"}},)"
         R"("volumeMounts":[{"name":"scratch","mountPath":"/scratch"},{"name":"settings","mountPath":"/etc/training"}]}],)"
         R"("volumes":[{"name":"scratch","emptyDir":{}},{"name":"settings","configMap":{"name":"training"}}]}})";
}

void fill(TestServer& server, int pods) {
  server.make_namespace("a");
  for (int i = 0; i < pods; ++i) server.admin("POST", kPods, pod("p" + std::to_string(i)));
}

void BM_CreatePod(benchmark::State& state) {
  TestServer server;
  fill(server, 0);
  int i = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(server.admin("POST", kPods, pod("p" + std::to_string(i++)))->status);
}
BENCHMARK(BM_CreatePod);

void BM_CreateWorkerPod(benchmark::State& state) {
  TestServer server;
  fill(server, 0);
  int i = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        server.admin("POST", kPods, worker("p" + std::to_string(i++)))->status);
}
BENCHMARK(BM_CreateWorkerPod);

void BM_GetPod(benchmark::State& state) {
  TestServer server;
  fill(server, 1);
  for (auto _ : state)
    benchmark::DoNotOptimize(server.admin("GET", std::string(kPods) + "/p0")->status);
}
BENCHMARK(BM_GetPod);

void BM_PatchPodStatus(benchmark::State& state) {
  TestServer server;
  fill(server, 1);
  int i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        server
            .patch(std::string(kPods) + "/p0/status",
                   R"({"status":{"message":")" + std::to_string(i++) + R"("}})")
            ->status);
  }
}
BENCHMARK(BM_PatchPodStatus);

void BM_ListThousandPods(benchmark::State& state) {
  TestServer server;
  fill(server, 1'000);
  const std::string target =
      kPods + std::string(state.range(0) == 0   ? ""
                          : state.range(0) == 1 ? "?labelSelector=tier%3D1"
                                                : "?fieldSelector=status.phase%3DPending");
  for (auto _ : state) benchmark::DoNotOptimize(server.admin("GET", target)->body.size());
}
BENCHMARK(BM_ListThousandPods)->ArgName("selector")->Arg(0)->Arg(1)->Arg(2);

void BM_TableOfThousandPods(benchmark::State& state) {
  TestServer server;
  fill(server, 1'000);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        server
            .admin("GET", kPods, "", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}})
            ->body.size());
  }
}
BENCHMARK(BM_TableOfThousandPods);

// One change, seen by many watchers.
void BM_FanOut(benchmark::State& state) {
  TestServer server;
  fill(server, 1);
  std::vector<testing::TestExchangePtr> watchers;
  for (int i = 0; i < state.range(0); ++i)
    watchers.push_back(server.admin("GET", std::string(kPods) + "?watch=true"));
  int i = 0;
  for (auto _ : state) {
    server.patch(std::string(kPods) + "/p0/status",
                 R"({"status":{"message":")" + std::to_string(i++) + R"("}})");
    for (const auto& watcher : watchers) watcher->body.clear();
  }
}
BENCHMARK(BM_FanOut)->Arg(1)->Arg(100);

}  // namespace
}  // namespace muster::server
