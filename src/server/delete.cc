// DELETE of an object.
#include <algorithm>
#include <array>

#include "server/delete_plan.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/render.h"

namespace muster::server {
namespace {

constexpr std::string_view kJobWarning =
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background "
    "to remove them or set "
    "propagationPolicy=Orphan to suppress this warning";

// Upstream names the Kind here, not the resource.
Error precondition_failed(const api::Resource& resource, std::string_view name,
                          std::string_view why) {
  return {.code = Code::kConflict,
          .message = fmt::format("Operation cannot be fulfilled on {} \"{}\": {}",
                                 resource.qualified_kind(), name, why),
          .name = std::string(name),
          .group = resource.gvk.group,
          .kind = resource.gvk.kind};
}

Status check_preconditions(const store::Object& live, const api::Resource& resource,
                           const DeleteOptions& options) {
  const api::Meta& meta = live.meta();
  if (!options.uid.empty() && options.uid != meta.uid) {
    return std::unexpected(
        precondition_failed(resource, meta.name,
                            fmt::format("the UID in the precondition ({}) does not match the UID "
                                        "in record ({}). The object might have been "
                                        "deleted and then recreated",
                                        options.uid, meta.uid)));
  }
  if (!options.resource_version.empty() && options.resource_version != meta.resource_version) {
    return std::unexpected(
        precondition_failed(resource, meta.name,
                            fmt::format("the ResourceVersion in the precondition ({}) does not "
                                        "match the ResourceVersion in record ({}). The "
                                        "object might have been modified",
                                        options.resource_version, meta.resource_version)));
  }
  return {};
}

// The namespaces that the system itself lives in.
Status check_mortal(const api::Resource& resource, std::string_view name) {
  static constexpr std::array<std::string_view, 3> kImmortal{"default", "kube-system",
                                                             "kube-public"};
  if (!resource.gvk.group.empty() || resource.plural != "namespaces") return {};
  if (std::ranges::find(kImmortal, name) == kImmortal.end()) return {};
  return std::unexpected(Error{
      .code = Code::kForbidden,
      .message =
          fmt::format("namespaces \"{}\" is forbidden: this namespace may not be deleted", name),
      .name = std::string(name),
      .kind = "namespaces"});
}

// The answer when the object is gone: itself for some kinds, a Status for the others.
void show_gone(Outcome& outcome, const store::ObjectPtr& object, const api::Resource& resource) {
  if (resource.returns_object_on_delete) {
    outcome.shown = object;
  } else {
    outcome.body = deleted_body(resource, object->meta().name, object->meta().uid);
  }
}

// The second half of kMarkThenRemove: the marked object goes, whatever happened to it meanwhile.
Result<Outcome> remove_marked(Attempt& attempt, const api::Resource& resource,
                              const store::ObjectPtr& marked) {
  const store::ObjectPtr live = attempt.find(resource, marked->meta().ns, marked->meta().name);
  Outcome outcome;
  if (live == nullptr || live->meta().uid != marked->meta().uid ||
      !live->meta().finalizers.empty()) {
    outcome.shown = marked;
    return outcome;
  }
  outcome.write = delete_write(*live, resource);
  return outcome;
}

}  // namespace

Result<Outcome> plan_delete(Attempt& attempt, const api::Resource& resource,
                            const DeleteTarget& target, const DeleteOptions& options) {
  MUSTER_CHECK(check_mortal(resource, target.name));
  const store::ObjectPtr live = attempt.find(resource, target.ns, target.name);
  if (live == nullptr) return std::unexpected(not_found(resource, target.name));
  MUSTER_CHECK(check_preconditions(*live, resource, options));
  const api::Resource& stored = *resource.storage;
  const json::Value object = tree_of(attempt.arena, *live, stored);
  if (target.edit) target.edit(object);
  const Deletion deletion = prepare_deletion(object, stored, options, attempt.now);
  if (deletion.orphans_by_default) attempt.call.warnings.emplace_back(kJobWarning);

  Outcome outcome;
  if (deletion.step == Deletion::Step::kNothing) {
    outcome.shown = live;
    return outcome;
  }
  if (deletion.step == Deletion::Step::kRemove) {
    if (!options.dry_run) outcome.write = delete_write(*live, resource);
    if (options.dry_run || !resource.returns_object_on_delete) show_gone(outcome, live, resource);
    return outcome;
  }
  MUSTER_TRY(store::Write write, put_write(attempt.arena, object, stored, live->revision()));
  const store::ObjectPtr marked =
      shown(Gapped{write.head, write.tail}.with(live->meta().resource_version), live->revision());
  if (options.dry_run || marked->bytes() == live->bytes()) {
    outcome.shown = marked;
  } else {
    outcome.write = std::move(write);
  }
  if (options.orphan_dependents_false && deletion.step == Deletion::Step::kMark)
    outcome.status = 202;
  if (deletion.step == Deletion::Step::kMarkThenRemove && !options.dry_run) {
    outcome.next = [&resource, marked](Attempt& next) {
      return remove_marked(next, resource, marked);
    };
  }
  return outcome;
}

void delete_object(const CallPtr& call) {
  json::Arena arena;
  const Result<DeleteOptions> options =
      parse_delete_options(arena, call->request(), call->info.query, call->core->registry);
  if (!options) return call->answer_error(options.error());
  carry_out(call, [options = *options](Attempt& attempt) {
    const Call& c = attempt.call;
    return plan_delete(attempt, *c.resource, {c.info.ns, c.info.name, nullptr}, options);
  });
}

}  // namespace muster::server
