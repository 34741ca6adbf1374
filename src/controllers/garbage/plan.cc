#include "controllers/garbage/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/views/owner_reference.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers::garbage {
namespace {

using api::OwnerReference;
using json::Value;

// An owner that is there but was never seen may go unseen, too: ask again then.
constexpr Duration kAskAgain = std::chrono::minutes(1);

ObjectRef ref_of(const Item& item) {
  return controllers::ref_of(item.meta(), item.resource->gvk.api_version(),
                             item.resource->gvk.kind);
}

// All patches hold the version that they were computed from: a list is replaced as a whole.
Write patch_list(const Item& item, std::string_view field, Value list) {
  json::Arena arena;
  Value change = Value::object(arena);
  change.object_at("metadata").set(field, list.empty() ? Value() : list);
  return {.operation = patch(*item.resource, ref_of(item), change)};
}

Write set_owners(const Item& item, const std::vector<OwnerReference>& owners) {
  json::Arena arena;
  const Value list = Value::array(arena);
  for (const OwnerReference& owner : owners)
    list.push_back(api::write_owner_reference(arena, owner));
  return patch_list(item, "ownerReferences", list);
}

Write remove_finalizer(const Item& item, std::string_view finalizer) {
  json::Arena arena;
  const Value list = Value::array(arena);
  for (const std::string& each : item.meta().finalizers) {
    if (each != finalizer) list.push_back(Value::string(arena, each));
  }
  return patch_list(item, "finalizers", list);
}

// Foreground deletion: the finalizer goes when nothing that blocks is left. The dependents get
// their own turns. What waits for this item in turn, in a circle, does not block: each would wait
// for the others for ever.
Verdict wait_for_dependents(const Surroundings& around, const Item& item) {
  const std::string& uid = item.meta().uid;
  for (const Item* dependent : around.graph.dependents(uid)) {
    if (dependent->blocks(item) && !waits_for(around.graph, *dependent, item)) return {};
  }
  Verdict verdict;
  verdict.plan.reason = "nothing that it owns blocks its deletion any more";
  verdict.plan.then(remove_finalizer(item, kForegroundFinalizer));
  return verdict;
}

Verdict orphan_dependents(const Surroundings& around, const Item& item) {
  const std::string& uid = item.meta().uid;
  Verdict verdict;
  verdict.plan.reason = "what it owns becomes its own master";
  for (const Item* dependent : around.graph.dependents(uid)) {
    std::vector<OwnerReference> rest = dependent->meta().owners;
    std::erase_if(rest, [&](const OwnerReference& each) { return each.uid == uid; });
    verdict.plan.write(set_owners(*dependent, rest));
  }
  verdict.plan.then(remove_finalizer(item, kOrphanFinalizer));
  return verdict;
}

enum class State : std::uint8_t { kSolid, kWaiting, kDangling };

struct Owners {
  std::vector<OwnerReference> solid;
  int waiting = 0;
  bool never_seen = false;  // one of the solid ones was not seen, only asked for
};

Event invalid_namespace(const Item& item, const OwnerReference& owner) {
  const std::string& ns = item.meta().ns;
  return {
      .regarding = ref_of(item),
      .warning = true,
      .reason = "OwnerRefInvalidNamespace",
      .message = fmt::format("ownerRef [{}/{}, namespace: {}, name: {}, uid: {}] does not exist "
                             "in namespace \"{}\"",
                             owner.api_version, owner.kind, ns, owner.name, owner.uid, ns)};
}

// Sorts the references; what stops the judgement is left in the verdict.
class Classifier {
 public:
  Classifier(const Surroundings& around, const Item& item, std::span<const Answer> found,
             Verdict& verdict)
      : around_(around), item_(item), found_(found), verdict_(verdict) {}

  // Nothing if the item cannot be judged now, or ever.
  std::optional<Owners> classify() {
    Owners owners;
    const auto& references = item_.meta().owners;
    for (std::size_t i = 0; i < references.size() && verdict_.ask.size() < kMostQuestions; ++i) {
      const std::optional<State> state = classify(i, owners);
      if (!state) return std::nullopt;
      if (*state == State::kSolid) owners.solid.push_back(references[i]);
      if (*state == State::kWaiting) ++owners.waiting;
    }
    if (!verdict_.ask.empty()) {
      verdict_.plan.events.clear();  // they come when the answers are there
      return std::nullopt;
    }
    return owners;
  }

 private:
  Answer found(std::size_t i) const { return i < found_.size() ? found_[i] : Answer::kNotAsked; }

  std::optional<State> classify(std::size_t i, Owners& owners) {
    const OwnerReference& reference = item_.meta().owners[i];
    const Item* const seen = around_.graph.find(reference.uid);
    if (found(i) == Answer::kAbsent) {  // for good: a uid never comes back
      tell_of_namespace(reference, seen);
      return State::kDangling;
    }
    const api::Resource* const resource =
        around_.registry.find_kind(reference.api_version, reference.kind);
    if (resource == nullptr) {
      verdict_.plan.error = fmt::format(
          "there is no kind {}/{}, which the ownerReference to \"{}\" "
          "names",
          reference.api_version, reference.kind, reference.name);
      return std::nullopt;
    }
    tell_of_namespace(reference, seen);
    // Of two faults this one is never mended: an owner in a namespace, of something in none.
    if (resource->namespaced && !item_.resource->namespaced) return std::nullopt;

    const Place place{resource->storage, resource->namespaced ? item_.meta().ns : "",
                      reference.name, reference.uid};
    if (seen != nullptr && is_at(*seen, place))
      return seen->deletes_dependents() ? State::kWaiting : State::kSolid;
    if (around_.graph.saw_removal(place)) return State::kDangling;
    if (found(i) == Answer::kPresent) {
      owners.never_seen = true;
    } else {
      verdict_.ask.push_back({i, place});
    }
    return State::kSolid;
  }

  void tell_of_namespace(const OwnerReference& reference, const Item* seen) {
    if (seen != nullptr && seen->resource->namespaced && seen->meta().ns != item_.meta().ns)
      verdict_.plan.events.push_back(invalid_namespace(item_, reference));
  }

  static bool is_at(const Item& item, const Place& place) {
    return item.resource->storage == place.resource && item.meta().ns == place.ns &&
           item.meta().name == place.name;
  }

  const Surroundings& around_;
  const Item& item_;
  std::span<const Answer> found_;
  Verdict& verdict_;
};

Propagation own_propagation(const Item& item) {
  if (item.has_finalizer(kOrphanFinalizer)) return Propagation::kOrphan;
  if (item.has_finalizer(kForegroundFinalizer)) return Propagation::kForeground;
  return Propagation::kBackground;
}

// Its owners wait for it to go; what it owns goes first.
void remove_in_foreground(const Surroundings& around, const Item& item, Plan& plan) {
  plan.reason = "its owner is being deleted and waits for it";
  const ObjectRef target = ref_of(item);
  const auto& dependents = around.graph.dependents(item.meta().uid);
  const bool maybe_a_circle =
      std::ranges::any_of(dependents, [](const Item* each) { return each->deletes_dependents(); });
  if (maybe_a_circle) {
    // Nobody in a circle may block, or all wait for each other.
    std::vector<OwnerReference> owners = item.meta().owners;
    for (OwnerReference& owner : owners) owner.block_owner_deletion = false;
    plan.then(set_owners(item, owners));
    plan.then({.operation = remove(*item.resource, target, Propagation::kForeground)});
  } else {
    plan.then({.operation = remove_version(*item.resource, target, Propagation::kForeground)});
  }
}

}  // namespace

std::optional<Duration> unsettled(const Item& item, store::Revision known_up_to, Duration waited) {
  constexpr Duration kSettle = std::chrono::milliseconds(500);
  if (!item.deletes_dependents() || !item.meta().owners.empty()) return std::nullopt;
  if (known_up_to >= item.object->revision() || waited >= kSettle) return std::nullopt;
  return kSettle - waited;
}

Verdict judge(const Surroundings& around, const Item& item, std::span<const Answer> found) {
  if (item.deletes_dependents()) return wait_for_dependents(around, item);
  if (item.orphans_dependents()) return orphan_dependents(around, item);
  if (item.is_deleting() || item.meta().owners.empty()) return {};

  Verdict verdict;
  const std::optional<Owners> owners = Classifier(around, item, found, verdict).classify();
  if (!owners) return verdict;
  Plan& plan = verdict.plan;
  if (owners->never_seen) plan.look_again = kAskAgain;
  if (owners->solid.size() == item.meta().owners.size()) return verdict;
  if (!owners->solid.empty()) {
    plan.reason = "some of its owners are gone or going, others stay";
    plan.then(set_owners(item, owners->solid));
  } else if (owners->waiting > 0 && !around.graph.dependents(item.meta().uid).empty()) {
    remove_in_foreground(around, item, plan);
  } else {
    plan.reason = owners->waiting > 0 ? "its owner is being deleted and waits for it"
                                      : "none of its owners is there any more";
    plan.then({.operation = remove_version(*item.resource, ref_of(item), own_propagation(item))});
  }
  return verdict;
}

}  // namespace muster::controllers::garbage
