#include "controllers/job/pod_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "controllers/job/names.h"
#include "controllers/job/per_index.h"
#include "controllers/runtime/writes.h"
#include "json/parse.h"

namespace muster::controllers::job {
namespace {

using json::Value;

// The server cuts a generateName here, which would cut the index off.
constexpr std::size_t kMaxPrefix = 58;
constexpr std::size_t kMaxName = 253;

bool contains(Value list, std::string_view text) {
  return std::ranges::any_of(list.items(), [&](Value item) { return item.as_string() == text; });
}

bool has_variable(Value container, std::string_view name) {
  return std::ranges::any_of(container.get("env").items(), [&](Value variable) {
    return variable.get("name").as_string() == name;
  });
}

void add_index_variable(json::Arena& arena, Value container) {
  if (has_variable(container, kIndexVariable)) return;
  Value variable = Value::object(arena);
  variable.set("name", kIndexVariable);
  variable.object_at("valueFrom")
      .object_at("fieldRef")
      .set("fieldPath", fmt::format("metadata.labels['{}']", kCompletionIndex));
  container.array_at("env").push_back(variable);
}

}  // namespace

std::string name_prefix(const Job& job, std::int64_t index) {
  if (index == kNoIndex) return job.ref.name.size() < kMaxName ? job.ref.name + "-" : job.ref.name;
  const std::string end = fmt::format("-{}-", index);
  return job.ref.name.substr(0, kMaxPrefix - end.size()) + end;
}

PodBuilder::PodBuilder(const Job& job) : job_(job), common_(common_part()) {}

Value PodBuilder::common_part() {
  const auto form = json::parse(arena_, job_.template_json);
  MUSTER_ASSERT(form.has_value(), "the template was written by json::write");
  Value pod = Value::object(arena_);
  pod.set("apiVersion", "v1");
  pod.set("kind", "Pod");
  Value metadata = pod.object_at("metadata");
  metadata.set("namespace", job_.ref.ns);
  for (const std::string_view part : {"labels", "annotations", "finalizers"}) {
    if (const Value value = form->get({"metadata", part}); !value.empty())
      metadata.set(part, value);
  }
  if (!contains(metadata.get("finalizers"), kTrackingFinalizer))
    metadata.array_at("finalizers").push_back(Value::view(kTrackingFinalizer));
  metadata.array_at("ownerReferences").push_back(controller_reference(arena_, job_.ref));
  pod.set("spec", form->get("spec"));
  return pod;
}

Value PodBuilder::build(const Birth& birth) {
  Value pod = json::clone(arena_, common_);
  const std::string prefix = name_prefix(job_, birth.index);
  pod.get("metadata").set("generateName", prefix);
  pod.get("metadata").set("name", prefix.substr(0, kMaxPrefix) + birth.suffix);
  if (birth.index != kNoIndex) add_index(pod, birth.index);
  if (job_.backoff_limit_per_index) add_failures(pod, birth);
  return pod;
}

// In the label, the annotation, the host name and the environment.
void PodBuilder::add_index(Value pod, std::int64_t index) {
  const std::string text = std::to_string(index);
  pod.get("metadata").object_at("labels").set(kCompletionIndex, text);
  pod.get("metadata").object_at("annotations").set(kCompletionIndex, text);
  Value spec = pod.object_at("spec");
  spec.set("hostname", fmt::format("{}-{}", job_.ref.name, text));
  for (const std::string_view part : {"initContainers", "containers"}) {
    for (const Value container : spec.get(part).items()) add_index_variable(arena_, container);
  }
}

void PodBuilder::add_failures(Value pod, const Birth& birth) {
  const IndexFailures failures = failures_after(job_, birth.replaced);
  Value annotations = pod.get("metadata").object_at("annotations");
  annotations.set(kIndexFailureCount, std::to_string(failures.counted));
  if (failures.ignored > 0)
    annotations.set(kIndexIgnoredFailureCount, std::to_string(failures.ignored));
}

}  // namespace muster::controllers::job
