#include "controllers/garbage/graph.h"

#include <algorithm>

namespace muster::controllers::garbage {
namespace {

client::QueueKey key_of(const Item& item) { return {item.meta().ns, item.meta().uid}; }

bool same_reference(const api::OwnerReference& a, const api::OwnerReference& b) {
  return a.uid == b.uid && a.api_version == b.api_version && a.kind == b.kind && a.name == b.name &&
         a.block_owner_deletion == b.block_owner_deletion;
}

// Whether anything changed that the collector looks at: most changes are none of its business.
bool matters(const api::Meta& before, const api::Meta& after) {
  return before.deletion_time.has_value() != after.deletion_time.has_value() ||
         before.finalizers != after.finalizers || !same_references(before, after);
}

bool blocks(const api::Meta& meta, std::string_view owner) {
  return std::ranges::any_of(meta.owners, [owner](const api::OwnerReference& reference) {
    return reference.uid == owner && reference.block_owner_deletion;
  });
}

std::set<std::string_view> blocked_owners(const api::Meta& meta) {
  std::set<std::string_view> uids;
  for (const api::OwnerReference& reference : meta.owners)
    if (reference.block_owner_deletion) uids.insert(reference.uid);
  return uids;
}

}  // namespace

bool same_references(const api::Meta& a, const api::Meta& b) {
  return std::ranges::equal(a.owners, b.owners, same_reference);
}

bool Item::has_finalizer(std::string_view finalizer) const {
  return std::ranges::find(meta().finalizers, finalizer) != meta().finalizers.end();
}

bool Item::blocks(const Item& owner) const {
  const bool reachable = !owner.resource->namespaced || owner.meta().ns == meta().ns;
  return reachable && garbage::blocks(meta(), owner.meta().uid);
}

std::vector<client::QueueKey> Graph::observe(const api::Resource& resource,
                                             const client::ObjectPtr& before,
                                             const client::ObjectPtr& after) {
  Keys woken;
  const bool same = before && after && before->meta().uid == after->meta().uid;
  if (before && !same) leave(resource, before->meta(), woken);
  if (!after) return woken;
  const Item* const known = find(after->meta().uid);
  const bool was_waiting = known != nullptr && known->deletes_dependents();
  enter(resource, after);

  const Item& item = items_.at(after->meta().uid);
  if (same && !matters(before->meta(), after->meta())) return woken;
  if (item.is_deleting() || !item.meta().owners.empty()) woken.push_back(key_of(item));
  if (item.deletes_dependents() && !was_waiting) wake_dependents(item.meta().uid, woken);
  if (!same) return woken;
  const std::set<std::string_view> blocked = blocked_owners(item.meta());
  for (const api::OwnerReference& reference : before->meta().owners) {
    if (reference.block_owner_deletion && !blocked.contains(reference.uid))
      wake_waiting_owner(reference, woken);
  }
  return woken;
}

void Graph::leave(const api::Resource& resource, const api::Meta& gone, Keys& woken) {
  (dependents(gone.uid).empty() ? removed_ : removed_owners_)
      .at({resource.storage, gone.ns, gone.name, gone.uid}) = true;
  wake_dependents(gone.uid, woken);
  for (const api::OwnerReference& reference : gone.owners) wake_waiting_owner(reference, woken);
  const auto at = items_.find(gone.uid);
  if (at == items_.end()) return;
  unlink(at->second);
  items_.erase(at);
}

void Graph::enter(const api::Resource& resource, const client::ObjectPtr& object) {
  Item& item = items_[object->meta().uid];
  if (item.object) unlink(item);
  item = {&resource, object};
  link(item);
}

void Graph::unlink(const Item& item) {
  for (const api::OwnerReference& reference : item.meta().owners) {
    const auto at = dependents_.find(reference.uid);
    if (at == dependents_.end()) continue;
    at->second.erase(&item);
    if (at->second.empty()) dependents_.erase(at);
  }
}

void Graph::link(const Item& item) {
  for (const api::OwnerReference& reference : item.meta().owners) {
    dependents_[reference.uid].insert(&item);
  }
}

const Item* Graph::find(const std::string& uid) const {
  const auto at = items_.find(uid);
  return at == items_.end() ? nullptr : &at->second;
}

const Graph::Dependents& Graph::dependents(const std::string& uid) const {
  static const Dependents kNone;
  const auto at = dependents_.find(uid);
  return at == dependents_.end() ? kNone : at->second;
}

bool Graph::saw_removal(const Place& place) const {
  return removed_.find(place) != nullptr || removed_owners_.find(place) != nullptr;
}

void Graph::wake_dependents(const std::string& uid, Keys& woken) const {
  for (const Item* dependent : dependents(uid)) woken.push_back(key_of(*dependent));
}

void Graph::wake_waiting_owner(const api::OwnerReference& reference, Keys& woken) const {
  const Item* const owner = find(reference.uid);
  if (owner != nullptr && owner->deletes_dependents()) woken.push_back(key_of(*owner));
}

bool waits_for(const Graph& graph, const Item& waiting, const Item& item) {
  std::set<const Item*> seen = {&waiting};
  std::vector<const Item*> open = {&waiting};
  std::size_t followed = 0;
  while (!open.empty()) {
    const Item& here = *open.back();
    open.pop_back();
    if (&here == &item) return true;
    if (!here.deletes_dependents()) continue;  // waits for nothing
    for (const Item* const next : graph.dependents(here.meta().uid)) {
      followed += next->meta().owners.size();
      if (followed > kLongestSearch) return false;
      if (next->deletes_dependents() && next->blocks(here) && seen.insert(next).second)
        open.push_back(next);
    }
  }
  return false;
}

}  // namespace muster::controllers::garbage
