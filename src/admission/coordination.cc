// Lease and Event: small records that components write about themselves.
#include <fmt/format.h>

#include "admission/checks.h"
#include "admission/kinds.h"

namespace muster::admission {
namespace {

void validate_lease(const Context&, Value lease, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = lease.get("spec");
  const Value seconds = spec.get("leaseDurationSeconds");
  if (!seconds.is_null() && seconds.as_int() <= 0)
    errors.invalid(path.child("leaseDurationSeconds"), seconds, "must be greater than 0");
  validate_not_negative(spec, "leaseTransitions", path, errors);
}

// Fields of a feature that upstream has switched off.
void drop_election_fields(Value lease) {
  for (const std::string_view key : {"strategy", "preferredHolder"})
    if (lease.get("spec").is_object()) lease.get("spec").erase(key);
}

void prepare_lease_create(const Context&, Value lease) { drop_election_fields(lease); }
void prepare_lease_update(const Context&, Value lease, Value) { drop_election_fields(lease); }

// The object that an event is about, under the name that the version gives it.
std::string_view subject_namespace(Value event) {
  const Value subject = event.get("involvedObject").is_object() ? event.get("involvedObject")
                                                                : event.get("regarding");
  return text_of(subject, "namespace");
}

void validate_event(const Context& context, Value event, FieldErrors& errors) {
  const std::string_view ns = text_of(event.get("metadata"), "namespace");
  const std::string_view about = subject_namespace(event);
  const std::string_view field =
      context.resource->gvk.group.empty() ? "involvedObject" : "regarding";
  const bool fits = about.empty() ? ns == "default" || ns == "kube-system" : about == ns;
  if (!fits)
    errors.invalid(Path(field).child("namespace"), about, "does not match event.namespace");
}

}  // namespace

constinit const Kind kLease = {
    .group = "coordination.k8s.io",
    .name = "Lease",
    .prepare_create = prepare_lease_create,
    .prepare_update = prepare_lease_update,
    .validate = validate_lease,
};

constinit const Kind kEvent = {.group = "", .name = "Event", .validate = validate_event};
constinit const Kind kEventsEvent = {
    .group = "events.k8s.io",
    .name = "Event",
    .validate = validate_event,
};

}  // namespace muster::admission
