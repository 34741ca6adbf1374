// PUT of an object or of one of its subresources that are views of it (status, finalize, resize,
// …).
#include "server/authorization.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/object_write.h"
#include "server/render.h"

namespace muster::server {
namespace {

Result<Outcome> plan_update(Attempt& attempt, const WriteOptions& options,
                            const Tracking& tracking) {
  const Call& call = attempt.call;
  const api::Resource& resource = *call.resource;
  MUSTER_TRY(const json::Value object,
             decode_body(attempt.arena, call.request(), BodyKind::of(resource), call.core->registry,
                         {options.validation, &attempt.call.warnings}));
  const store::ObjectPtr live = attempt.find(resource, call.info.ns, call.info.name);
  if (live == nullptr) {
    if (!resource.create_on_update || call.subresource != nullptr)
      return std::unexpected(not_found(resource, call.info.name));
    MUSTER_CHECK(check_also_allowed(*call.core, call.user, call.info, "create"));
    if (object.get({"metadata", "name"}).as_string().empty())
      object.object_at("metadata").set("name", call.info.name);
    object.object_at("metadata").erase("resourceVersion");
    return create_from(attempt, object, options, tracking);
  }
  const json::Value old = tree_of(attempt.arena, *live, resource);
  return update_to(attempt, live, old, object, options, tracking, {.sent_whole = true});
}

}  // namespace

void update_object(const CallPtr& call) {
  const Result<WriteOptions> options = parse_write_options(call->info.query, "UpdateOptions");
  if (!options) return call->answer_error(options.error());
  carry_out(call, [options = *options, tracking = tracking_of(*call, *options)](Attempt& attempt) {
    return plan_update(attempt, options, tracking);
  });
}

}  // namespace muster::server
