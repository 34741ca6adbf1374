// What admission costs for one object: a Pod, a Job and a JobSet, from the decoded tree to the
// judged one.
#include <benchmark/benchmark.h>

#include "admission/admission.h"
#include "admission/feature_gates.h"
#include "api/decode/decode.h"
#include "json/parse.h"

namespace muster::admission {
namespace {

class QuietView final : public View {
 public:
  std::string_view find(std::string_view, std::string_view plural, std::string_view,
                        std::string_view) const override {
    return plural == "namespaces" ? R"({"metadata":{"name":"ns"}})" : std::string_view();
  }
  std::vector<std::string_view> list(std::string_view, std::string_view,
                                     std::string_view) const override {
    return {};
  }
};

constexpr std::string_view kPod = R"({"metadata": {"name": "x", "namespace": "ns"}, "spec": {
    "containers": [{"name": "c", "image": "i", "env": [{"name": "A", "value": "1"}],
        "ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}]}})";
constexpr std::string_view kJob = R"({"metadata": {"name": "x", "namespace": "ns"}, "spec": {
    "completionMode": "Indexed", "completions": 4, "parallelism": 4, "template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})";
constexpr std::string_view kJobSet = R"({"metadata": {"name": "x", "namespace": "ns"}, "spec": {
    "replicatedJobs": [{"name": "w", "replicas": 4, "template": {"spec": {"parallelism": 4,
        "completions": 4, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}}}]}})";

void create(benchmark::State& state, std::string_view api_version, std::string_view kind,
            std::string_view text) {
  const QuietView view;
  const FeatureGates gates;
  const api::Resource& resource = *api::Registry::builtin().find_kind(api_version, kind);
  for (auto _ : state) {
    state.PauseTiming();
    json::Arena arena;
    const json::Value tree = json::parse(arena, text).value();
    tree.set("apiVersion", api_version);
    tree.set("kind", kind);
    api::DecodeReport report;
    const json::Value object = api::decode(arena, tree, resource, report).value();
    state.ResumeTiming();
    const Context context{
        .resource = &resource, .ns = "ns", .name = "x", .view = &view, .gates = &gates};
    default_object(context, object);
    (void)mutate(context, object, {});
    object.get("metadata").set("uid", "11111111-2222-3333-4444-555555555555");
    prepare_create(context, object);
    benchmark::DoNotOptimize(validate_create(context, object).empty());
  }
}

BENCHMARK_CAPTURE(create, Pod, "v1", "Pod", kPod);
BENCHMARK_CAPTURE(create, Job, "batch/v1", "Job", kJob);
BENCHMARK_CAPTURE(create, JobSet, "jobset.x-k8s.io/v1alpha2", "JobSet", kJobSet);

}  // namespace
}  // namespace muster::admission
