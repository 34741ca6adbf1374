// Who owns whom: every object that has been seen, by uid, and the edges that its ownerReferences
// make. Owners that have not been seen have no item here, but their dependents are known.
#pragma once

#include <compare>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "client/informer.h"
#include "client/work_queue.h"
#include "controllers/runtime/lru.h"

namespace muster::controllers::garbage {

inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";

struct Item {
  const api::Resource* resource = nullptr;
  client::ObjectPtr object;

  const api::Meta& meta() const { return object->meta(); }
  bool is_deleting() const { return meta().deletion_time.has_value(); }
  bool has_finalizer(std::string_view finalizer) const;
  // Waits until what it owns is gone.
  bool deletes_dependents() const { return is_deleting() && has_finalizer(kForegroundFinalizer); }
  // Waits until what it owns is its own master.
  bool orphans_dependents() const { return is_deleting() && has_finalizer(kOrphanFinalizer); }
  // Must be gone before `owner`, which waits for what it owns. From another namespace it has no
  // such claim, whatever its references say.
  bool blocks(const Item& owner) const;
};

// The place where a reference says that an owner is.
struct Place {
  const api::Resource* resource = nullptr;
  std::string ns;
  std::string name;
  std::string uid;
  auto operator<=>(const Place&) const = default;
};

// Whether both have the same ownerReferences, as far as the collector looks at them.
bool same_references(const api::Meta& a, const api::Meta& b);

struct ByUid {
  bool operator()(const Item* a, const Item* b) const { return a->meta().uid < b->meta().uid; }
};

class Graph {
 public:
  using Dependents = std::set<const Item*, ByUid>;
  // Removals that are remembered, about a megabyte: more than most deletions leave behind at once.
  static constexpr std::size_t kMaxRemoved = 4'096;
  // Those of owners that left dependents behind: more than the Jobs that may wait to start
  // (JobLimits), which may all be deleted at once. What goes with them, ten thousands of pods, does
  // not displace them.
  static constexpr std::size_t kMaxOwnersRemoved = 32'768;

  // A change as an informer tells it. Returns the keys of those that must be looked at because of
  // it: {namespace, uid}.
  std::vector<client::QueueKey> observe(const api::Resource& resource,
                                        const client::ObjectPtr& before,
                                        const client::ObjectPtr& after);

  const Item* find(const std::string& uid) const;  // null if it has not been seen
  const Dependents& dependents(const std::string& uid) const;
  // Whether an object was seen there and then removed, as far as that is remembered. A uid never
  // comes back.
  bool saw_removal(const Place& place) const;

 private:
  using Keys = std::vector<client::QueueKey>;
  void leave(const api::Resource& resource, const api::Meta& gone, Keys& woken);
  void enter(const api::Resource& resource, const client::ObjectPtr& object);
  void unlink(const Item& item);
  void link(const Item& item);
  void wake_dependents(const std::string& uid, Keys& woken) const;
  void wake_waiting_owner(const api::OwnerReference& reference, Keys& woken) const;

  // Only looked up, never walked.
  std::unordered_map<std::string, Item> items_;
  std::unordered_map<std::string, Dependents> dependents_;
  // Mutable because finding an entry keeps it longer.
  mutable Lru<Place, bool> removed_{kMaxRemoved};
  mutable Lru<Place, bool> removed_owners_{kMaxOwnersRemoved};
};

// References that one search follows: some milliseconds. No honest tree of objects that all go in
// the foreground is as large, and beyond it a circle is not found.
inline constexpr std::size_t kLongestSearch = 100'000;

// Whether `waiting` goes in the foreground and waits for `item`, itself or by way of others that
// wait likewise. An item waits for itself.
bool waits_for(const Graph& graph, const Item& waiting, const Item& item);

}  // namespace muster::controllers::garbage
