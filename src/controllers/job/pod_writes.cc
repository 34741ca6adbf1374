#include "controllers/job/pod_writes.h"

#include <fmt/format.h>

#include <algorithm>

#include "controllers/job/names.h"
#include "controllers/job/pod_builder.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers::job {
namespace {

using json::Value;

// Lists of owners and finalizers are merged, so nobody else's entries are touched.
Write merge_metadata(const Kinds& kinds, const Pod& pod, Value metadata) {
  metadata.set("uid", pod.ref.uid);
  const Value body = Value::object(metadata.arena());
  body.set("metadata", metadata);
  return {.operation = {.verb = client::Verb::kPatch,
                        .resource = kinds.pod,
                        .ns = pod.ref.ns,
                        .name = pod.ref.name,
                        .body = body,
                        .patch_type = client::PatchType::kStrategic}};
}

void drop_finalizer(Value metadata) {
  metadata.array_at("$deleteFromPrimitiveList/finalizers")
      .push_back(Value::view(kTrackingFinalizer));
}

Write create_pod(const Kinds& kinds, const Job& job, PodBuilder& builder, const Birth& birth) {
  const Value pod = builder.build(birth);
  Write write{.operation = create(*kinds.pod, pod)};
  write.operation.name = pod.get({"metadata", "generateName"}).as_string();  // enough for the log
  write.when_done =
      Event{.regarding = job.ref, .reason = "SuccessfulCreate", .message = "Created pod: {}"};
  write.when_refused = Event{.regarding = job.ref,
                             .warning = true,
                             .reason = "FailedCreate",
                             .message = "Error creating: {}"};
  return write;
}

}  // namespace

std::vector<Step> create_pods(const Kinds& kinds, const Job& job, std::span<const Birth> born) {
  std::vector<Step> steps;
  if (born.empty()) return steps;
  PodBuilder builder(job);
  for (std::size_t batch = 1; !born.empty(); batch *= 2) {
    const auto now = born.first(std::min(batch, born.size()));
    born = born.subspan(now.size());
    Step& step = steps.emplace_back();
    for (const Birth& birth : now) step.writes.push_back(create_pod(kinds, job, builder, birth));
  }
  return steps;
}

Step delete_pods(const Kinds& kinds, const Job& job, std::span<const Pod* const> pods) {
  Step step;
  for (const Pod* pod : pods) {
    Write write{.operation = remove(*kinds.pod, pod->ref, Propagation::kBackground)};
    write.when_done = Event{.regarding = job.ref,
                            .reason = "SuccessfulDelete",
                            .message = "Deleted pod: " + pod->ref.name};
    write.when_refused = Event{.regarding = job.ref,
                               .warning = true,
                               .reason = "FailedDelete",
                               .message = "Error deleting: {}"};
    step.writes.push_back(std::move(write));
  }
  return step;
}

Write let_go(const Kinds& kinds, const Pod& pod) {
  json::Arena arena;
  const Value metadata = Value::object(arena);
  drop_finalizer(metadata);
  return merge_metadata(kinds, pod, metadata);
}

Step let_go(const Kinds& kinds, std::span<const Pod* const> pods) {
  Step step;
  for (const Pod* pod : pods) step.writes.push_back(let_go(kinds, *pod));
  return step;
}

Write adopt(const Kinds& kinds, const Job& job, const Pod& pod) {
  json::Arena arena;
  const Value metadata = Value::object(arena);
  metadata.array_at("ownerReferences").push_back(controller_reference(arena, job.ref));
  metadata.array_at("finalizers").push_back(Value::view(kTrackingFinalizer));
  return merge_metadata(kinds, pod, metadata);
}

Write release(const Kinds& kinds, const Job& job, const Pod& pod) {
  json::Arena arena;
  const Value metadata = Value::object(arena);
  const Value reference = Value::object(arena);
  reference.set("$patch", "delete");
  reference.set("uid", job.ref.uid);
  metadata.array_at("ownerReferences").push_back(reference);
  drop_finalizer(metadata);
  return merge_metadata(kinds, pod, metadata);
}

}  // namespace muster::controllers::job
