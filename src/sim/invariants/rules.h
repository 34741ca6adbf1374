// All rules, each in the file of its name.
#pragma once

#include <memory>

#include "sim/invariants/rule.h"

namespace muster::sim {

// A JobSet that has completed or failed, and a Job that has finished, stay so.
std::unique_ptr<Rule> make_ends_are_final();
// Restarts are counted one by one, and never beyond what the failure policy allows.
std::unique_ptr<Rule> make_restarts_are_counted();
// No Job starts before what it depends on, or before those that the startup order puts first.
std::unique_ptr<Rule> make_stages_start_in_order();
// No two pods of a Job's completion index live at once.
std::unique_ptr<Rule> make_one_pod_per_index();
// KEP-498: no main container starts before all pods of the group have.
std::unique_ptr<Rule> make_barrier_holds();
// At rest, everything that has owners has one that exists.
std::unique_ptr<Rule> make_owners_exist();

}  // namespace muster::sim
