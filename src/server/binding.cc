// pods/binding and bindings: a pod gets its node.
#include <algorithm>
#include <array>

#include "api/values/names.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/object_write.h"
#include "server/render.h"

namespace muster::server {
namespace {

BodyKind binding_kind(const api::Registry& registry) {
  return {{"", "v1", "Binding"}, registry.type("io.k8s.api.core.v1.Binding"), false};
}

Status check_target(json::Value binding) {
  const std::string_view kind = binding.get({"target", "kind"}).as_string();
  if (!kind.empty() && kind != "Node") {
    return std::unexpected(untranslated(fmt::format(
        "target.kind: Unsupported value: \"{}\": supported values: \"Node\", \"<empty>\"", kind)));
  }
  if (binding.get({"target", "name"}).as_string().empty()) {
    return std::unexpected(untranslated("target.name: Required value"));
  }
  return {};
}

Error cannot_bind(std::string_view pod, std::string_view why) {
  return {.code = Code::kConflict,
          .message = fmt::format(
              "Operation cannot be fulfilled on pods/binding \"{0}\": pod {0} {1}", pod, why),
          .name = std::string(pod),
          .kind = "pods/binding"};
}

Status check_pod(json::Value pod, std::string_view name) {
  if (!pod.get({"metadata", "deletionTimestamp"}).is_null()) {
    return std::unexpected(cannot_bind(name, "is being deleted, cannot be assigned to a host"));
  }
  if (const std::string_view node = pod.get({"spec", "nodeName"}).as_string(); !node.empty()) {
    return std::unexpected(
        cannot_bind(name, fmt::format("is already assigned to node \"{}\"", node)));
  }
  if (!pod.get({"spec", "schedulingGates"}).empty()) {
    return std::unexpected(cannot_bind(name, "has non-empty .spec.schedulingGates"));
  }
  return {};
}

constexpr std::array<std::string_view, 2> kCopied = {"annotations", "labels"};

// Annotations and labels of the Binding go to the pod, and its condition says that it has a place.
void bind(json::Value pod, json::Value binding, Time now) {
  pod.object_at("spec").set("nodeName", binding.get({"target", "name"}));
  for (const std::string_view field : kCopied) {
    const json::Value given = binding.get({"metadata", field});
    if (given.empty()) continue;
    const json::Value kept = pod.object_at("metadata").object_at(field);
    for (const json::Member& member : given.members()) kept.set(member.key, member.value);
  }
  const json::Value conditions = pod.object_at("status").array_at("conditions");
  json::Value scheduled;
  for (const json::Value condition : conditions.items()) {
    if (condition.get("type").as_string() == "PodScheduled") scheduled = condition;
  }
  if (scheduled.is_null()) {
    scheduled = json::Value::object(pod.arena());
    scheduled.set("type", "PodScheduled");
    conditions.push_back(scheduled);
  }
  if (scheduled.get("status").as_string() == "True") return;
  scheduled.set("status", "True");
  scheduled.set("lastTransitionTime", format_time(now));
  scheduled.erase("reason");
  scheduled.erase("message");
}

// As for any other change of a pod's metadata.
Status check_metadata(json::Value pod, std::string_view name) {
  const json::Value metadata = pod.get("metadata");
  const api::Path path("metadata");
  api::FieldErrors errors;
  api::validate_labels(metadata.get("labels"), path.child("labels"), errors);
  api::validate_annotations(metadata.get("annotations"), path.child("annotations"), errors);
  if (errors.empty()) return {};
  return std::unexpected(errors.to_error("Binding", "", "Binding", name));
}

// A pod always gets its node, but what else the Binding brings counts like an update.
std::size_t limit_of(json::Value binding, const store::Object& live) {
  const bool brings_more = std::ranges::any_of(
      kCopied, [&](std::string_view field) { return !binding.get({"metadata", field}).empty(); });
  return brings_more ? std::max(kMaxStoredBytes, live.bytes().size())
                     : kMaxStoredBytes + kReservedBytes;
}

Result<Outcome> plan_binding(Attempt& attempt, const WriteOptions& options) {
  const Call& call = attempt.call;
  const api::Registry& registry = call.core->registry;
  const api::Resource& pods = *registry.find("", "v1", "pods");
  MUSTER_TRY(const json::Value binding,
             decode_body(attempt.arena, call.request(), binding_kind(registry), registry,
                         {options.validation, &attempt.call.warnings}));
  const std::string_view sent_name = binding.get({"metadata", "name"}).as_string();
  if (call.subresource != nullptr && !sent_name.empty() && sent_name != call.info.name) {
    return std::unexpected(bad_request("name in URL does not match name in Binding object"));
  }
  const std::string name = call.subresource != nullptr ? call.info.name : std::string(sent_name);
  if (const std::string_view ns = binding.get({"metadata", "namespace"}).as_string();
      !ns.empty() && ns != call.info.ns) {
    return std::unexpected(bad_request(
        "the namespace of the provided object does not match the namespace sent on the request"));
  }
  MUSTER_CHECK(check_target(binding));
  const store::ObjectPtr live = attempt.find(pods, call.info.ns, name);
  if (live == nullptr) return std::unexpected(not_found(pods, name));
  if (const std::string_view uid = binding.get({"metadata", "uid"}).as_string();
      !uid.empty() && uid != live->meta().uid) {
    return std::unexpected(
        conflict(pods, name,
                 fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                             uid, live->meta().uid)));
  }
  const json::Value pod = tree_of(attempt.arena, *live, pods);
  MUSTER_CHECK(check_pod(pod, name));
  bind(pod, binding, attempt.now);
  MUSTER_CHECK(check_metadata(pod, name));
  Outcome outcome{
      .status = 201, .write = {}, .shown = nullptr, .body = success_body(201), .next = {}};
  MUSTER_TRY(store::Write write, put_write(attempt.arena, pod, pods, live->revision()));
  MUSTER_CHECK(check_size(write, limit_of(binding, *live)));
  if (!options.dry_run) outcome.write = std::move(write);
  return outcome;
}

}  // namespace

void bind_pod(const CallPtr& call) {
  const Result<WriteOptions> options = parse_write_options(call->info.query, "CreateOptions");
  if (!options) return call->answer_error(options.error());
  carry_out(call,
            [options = *options](Attempt& attempt) { return plan_binding(attempt, options); });
}

}  // namespace muster::server
