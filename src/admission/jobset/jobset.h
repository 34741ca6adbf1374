// Parts of the JobSet's rules (spec: jobset 2), one file each.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "admission/kind.h"

namespace muster::admission {

// 2.1: fills in what the mutating webhook fills in. Upstream does so on create only, and then
// refuses a file that leaves these fields out when it is applied again; here an update gets the
// same defaults. Fields of switched-off features are dropped with a warning, unless the JobSet had
// them before (`old`, null on create): switching a feature off takes nothing from what is there.
Status mutate_jobset(const Context& context, Value jobset, Value old);
// The part of it that concerns the entries of spec.replicatedJobs.
void default_replicated_jobs(Value jobs);

// The CEL rules of the definition.
void validate_jobset_rules(const Context& context, Value jobset, FieldErrors& errors);
void validate_jobset_transitions(const Context& context, Value jobset, Value old,
                                 FieldErrors& errors);

// 2.2 and 2.3: the validating webhook.
void admit_jobset_create(const Context& context, Value jobset, FieldErrors& errors);
void admit_jobset_update(const Context& context, Value jobset, Value old, FieldErrors& errors);

// Parts of 2.2.
struct JobSetCheck {
  const Context& context;
  Value jobset;
  Value spec;
  std::string name;  // as it will be: of a generated name only the length is right
  FieldErrors& errors;
  std::map<std::string_view, Value> replicated_jobs;  // by name: there may be thousands

  Value replicated_job(std::string_view name) const;  // null if there is none
};
void check_failure_policy(const JobSetCheck& check);
void check_volume_claims(const JobSetCheck& check);
void check_group_scheduling(const JobSetCheck& check);
void check_gangs(const JobSetCheck& check);
void check_rank_environment(const JobSetCheck& check);

// The entries start one after the other, not all at once.
bool is_sequenced(Value jobset_spec);

}  // namespace muster::admission
