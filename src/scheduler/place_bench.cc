// What a decision costs: one pod, with so many nodes, of which each holds a few pods already.
#include <benchmark/benchmark.h>

#include <deque>

#include "scheduler/testing.h"

namespace muster::scheduler {
namespace {

constexpr int kPodsPerNode = 5;
constexpr int kNodesPerRack = 16;

std::string worker(int job, int index) {
  return fmt::format(
      R"({{"name":"train-w-{0}-{1}","labels":{{"jobset.sigs.k8s.io/jobset-name":"train",
        "jobset.sigs.k8s.io/job-key":"k{0}","jobset.sigs.k8s.io/priority":"0",
        "batch.kubernetes.io/job-name":"train-w-{0}","batch.kubernetes.io/job-completion-index":"{1}",
        "app":"train"}},"nodeSelector":{{"pool":"gpu"}},
        "tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists",
          "effect":"NoExecute","tolerationSeconds":300}}],
        "containers":[{{"name":"main","resources":{{"requests":
          {{"cpu":"2","memory":"4Gi","nvidia.com/gpu":"1"}}}}}}]}})",
      job, index);
}

std::string leader(int job) {
  std::string text = worker(job, 0);
  text.pop_back();
  return text + fmt::format(R"(,"affinity":{{
      "podAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{{"topologyKey":"rack",
        "namespaceSelector":{{}},"labelSelector":{{"matchExpressions":[
        {{"key":"jobset.sigs.k8s.io/job-key","operator":"In","values":["k{0}"]}}]}}}}]}},
      "podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{{"topologyKey":"rack",
        "namespaceSelector":{{}},"labelSelector":{{"matchExpressions":[
        {{"key":"jobset.sigs.k8s.io/job-key","operator":"Exists"}},
        {{"key":"jobset.sigs.k8s.io/job-key","operator":"NotIn","values":["k{0}"]}},
        {{"key":"jobset.sigs.k8s.io/priority","operator":"In","values":["0"]}}]}}}}]}}}}}})",
                            job);
}

// Racks are numbered from 0; the last one stays empty.
class Machines {
 public:
  explicit Machines(int nodes) {
    for (int i = 0; i < nodes; ++i) {
      const int rack = i / kNodesPerRack;
      const std::string name = fmt::format("node-{:04}", i);
      cluster.put_node(testing::node(
          name, fmt::format(R"({{"labels":{{"pool":"gpu","rack":"r{}","kubernetes.io/hostname":"{}",
                 "kubernetes.io/os":"linux","kubernetes.io/arch":"amd64"}},"allocatable":
                 {{"cpu":"64","memory":"256Gi","pods":"110","nvidia.com/gpu":"8"}}}})",
                            rack, name)));
      if (i >= nodes - kNodesPerRack) continue;
      for (int j = 0; j < kPodsPerNode; ++j) {
        const bool leads = j == 0 && i % kNodesPerRack == 0;
        pods_.push_back(testing::pod(leads ? leader(rack) : worker(rack, 10 * i + j)));
        cluster.add_pod(pods_.back(), name);
      }
    }
  }
  Cluster cluster;

 private:
  std::deque<Pod> pods_;
};

void place_repeatedly(benchmark::State& state, const std::string& asks) {
  Machines machines(static_cast<int>(state.range(0)));
  const Pod pod = testing::pod(asks);
  machines.cluster.use_topologies(pod.wishes);
  for (auto _ : state) benchmark::DoNotOptimize(place(machines.cluster, pod));
}

// A pod whose Job is nobody's rival.
void BM_PlaceWorker(benchmark::State& state) {
  std::string plain = worker(-1, 0);
  place_repeatedly(state, plain.replace(plain.find("job-key"), 7, "free-as"));
}
BENCHMARK(BM_PlaceWorker)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

// A follower in a cluster of exclusive Jobs: every rack but one belongs to somebody else.
void BM_PlaceFollower(benchmark::State& state) { place_repeatedly(state, worker(-1, 1)); }
BENCHMARK(BM_PlaceFollower)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

void BM_PlaceExclusiveLeader(benchmark::State& state) { place_repeatedly(state, leader(-1)); }
BENCHMARK(BM_PlaceExclusiveLeader)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

void BM_Refuse(benchmark::State& state) {
  place_repeatedly(state, testing::asking(R"({"cpu":"65"})"));
}
BENCHMARK(BM_Refuse)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

// One waiting pod against one node that has changed.
void BM_LookAtOneNode(benchmark::State& state) {
  Machines machines(100);
  const Pod pod = testing::pod(testing::asking(R"({"cpu":"65"})"));
  const std::vector<const Room*> one{machines.cluster.nodes().front()};
  for (auto _ : state) benchmark::DoNotOptimize(place_among(machines.cluster, pod, one));
}
BENCHMARK(BM_LookAtOneNode);

void BM_AddAndRemovePod(benchmark::State& state) {
  Machines machines(1000);
  const Pod pod = testing::pod(worker(-1, 1));
  for (auto _ : state) {
    machines.cluster.add_pod(pod, "node-0000");
    machines.cluster.remove_pod(pod, "node-0000");
  }
}
BENCHMARK(BM_AddAndRemovePod);

void BM_ReadPod(benchmark::State& state) {
  const std::string asks = leader(1);
  for (auto _ : state) benchmark::DoNotOptimize(testing::pod(asks));
}
BENCHMARK(BM_ReadPod)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace muster::scheduler
