#include "sim/invariants/invariants.h"

#include <optional>

#include "json/parse.h"
#include "sim/invariants/rules.h"

namespace muster::sim {
namespace {

std::vector<std::unique_ptr<Rule>> all_rules() {
  std::vector<std::unique_ptr<Rule>> rules;
  rules.push_back(make_ends_are_final());
  rules.push_back(make_restarts_are_counted());
  rules.push_back(make_stages_start_in_order());
  rules.push_back(make_one_pod_per_index());
  rules.push_back(make_barrier_holds());
  rules.push_back(make_owners_exist());
  return rules;
}

// Puts the object in, or takes it out, and returns what was there before.
template <typename Object>
std::optional<Object> replace(std::map<std::string, Object>& objects, const Object& object,
                              bool is_deletion) {
  std::optional<Object> before;
  if (const auto at = objects.find(object.meta.uid); at != objects.end()) {
    before = std::move(at->second);
    objects.erase(at);
  }
  if (!is_deletion) objects.emplace(object.meta.uid, object);
  return before;
}

}  // namespace

const api::JobSet* Present::set_of(const api::Job& job) const {
  const auto* owner = job.meta.controller();
  const auto set = owner == nullptr ? sets.end() : sets.find(owner->uid);
  return set == sets.end() ? nullptr : &set->second;
}

Invariants::Invariants() : Invariants(all_rules()) {}

void Invariants::took(const store::Event& event) {
  json::Arena arena;
  const auto object = json::parse(arena, event.object->bytes());
  MUSTER_ASSERT(object.has_value(), "stored objects are sound");
  const std::string_view kind = object->get("kind").as_string();
  Change change{.event = &event};
  if (kind == "JobSet") {
    const api::JobSet set = api::read_job_set(*object);
    const auto before = replace(present_.sets, set, change.is_deletion());
    change.set = &set;
    change.set_before = before ? &*before : nullptr;
    judge(change);
  } else if (kind == "Job") {
    const api::Job job = api::read_job(*object);
    const auto before = replace(present_.jobs, job, change.is_deletion());
    change.job = &job;
    change.job_before = before ? &*before : nullptr;
    judge(change);
  } else if (kind == "Pod") {
    const api::Pod pod = api::read_pod(*object);
    change.pod = &pod;
    judge(change);
  }
}

void Invariants::judge(const Change& change) {
  for (const auto& rule : rules_) rule->judge(change, present_, violations_);
}

void Invariants::check_at_rest(const std::vector<store::ObjectPtr>& all) {
  for (const auto& rule : rules_) rule->judge_rest(all, violations_);
}

}  // namespace muster::sim
