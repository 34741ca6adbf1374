// What a request costs in api/: reading and decoding one Pod of 4.5 kB; and what a start costs: the
// registry.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "api/decode/decode.h"
#include "api/schema/registry_data.h"
#include "api/views/meta.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::api {
namespace {

using json::Value;

std::string list_of(int count, std::string_view item) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += i == 0 ? "" : ",";
    text += fmt::format(fmt::runtime(item), i);
  }
  return text;
}

std::string make_pod() {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"train-workers-0-3-x7k2p","namespace":"research",)"
         R"("uid":"5f0b3c1e-8d4a-4c77-9a61-0b5f5e4f7c21","resourceVersion":"184467","generation":1,)"
         R"("creationTimestamp":"2026-11-15T09:45:40Z","labels":{)" +
         list_of(10, R"("jobset.sigs.k8s.io/label-{}":"value")") + R"(},"annotations":{)" +
         list_of(6, R"("example.com/annotation-{}":"text")") +
         R"(},"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"train-workers-0","uid":"u",)"
         R"("controller":true,"blockOwnerDeletion":true}],"managedFields":[{"manager":"m","operation":"Update",)"
         R"("apiVersion":"v1","time":"2026-11-15T09:45:40Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{)" +
         list_of(20, R"("f:jobset.sigs.k8s.io/label-{}":{{}})") + R"(}}}}]},"spec":{"volumes":[)" +
         list_of(4, R"({{"name":"volume-{}","configMap":{{"name":"c","defaultMode":420}}}})") +
         R"(],"containers":[{"name":"main","image":"registry.example.com/research/train:2026.11","command":["python",)"
         R"("train.py"],"env":[)" +
         list_of(12, R"({{"name":"VARIABLE_{}","value":"the value of it"}})") +
         R"(],"resources":{"limits":{"cpu":"4","memory":"16Gi","nvidia.com/gpu":"1"},"requests":{"cpu":"4","memory":"16Gi"}},)"
         R"("volumeMounts":[)" +
         list_of(4, R"({{"name":"volume-{}","readOnly":true,"mountPath":"/var/data"}})") +
         R"(],"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":)"
         R"("IfNotPresent"}],"restartPolicy":"Never","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",)"
         R"("nodeName":"n","securityContext":{},"schedulerName":"default-scheduler","tolerations":[)" +
         list_of(
             2,
             R"({{"key":"k{}","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}})") +
         R"(]},"status":{"phase":"Running","conditions":[)" +
         list_of(
             4,
             R"({{"type":"C{}","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-15T09:45:41Z"}})") +
         R"(],"podIP":"127.1.2.3","podIPs":[{"ip":"127.1.2.3"}],"startTime":"2026-11-15T09:45:40Z","qosClass":"Guaranteed"}})";
}

void BM_ParseAndDecodePod(benchmark::State& state) {
  const std::string text = make_pod();
  const Resource& pods = *Registry::builtin().find_kind("v1", "Pod");
  for (auto _ : state) {
    json::Arena arena;
    DecodeReport report;
    benchmark::DoNotOptimize(decode(arena, *json::parse(arena, text), pods, report));
  }
  state.counters["bytes"] = static_cast<double>(text.size());
}
BENCHMARK(BM_ParseAndDecodePod);

void BM_ParsePod(benchmark::State& state) {
  const std::string text = make_pod();
  for (auto _ : state) {
    json::Arena arena;
    benchmark::DoNotOptimize(json::parse(arena, text));
  }
}
BENCHMARK(BM_ParsePod);

void BM_DecodeMetaOfPod(benchmark::State& state) {
  const std::string text = make_pod();
  for (auto _ : state) benchmark::DoNotOptimize(decode_meta(text));
}
BENCHMARK(BM_DecodeMetaOfPod);

void BM_BuildRegistry(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(build_registry());
}
BENCHMARK(BM_BuildRegistry)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::api
