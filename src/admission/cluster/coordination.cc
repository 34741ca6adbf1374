// Lease: a small record that a component writes about itself.
#include <fmt/format.h>

#include "admission/kinds.h"
#include "admission/rules/checks.h"

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

}  // namespace

constinit const Kind kLease = {
    .group = "coordination.k8s.io",
    .name = "Lease",
    .prepare_create = prepare_lease_create,
    .prepare_update = prepare_lease_update,
    .validate = validate_lease,
};

}  // namespace muster::admission
