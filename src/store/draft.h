// A group in the making: writes are checked and applied one after another to a private copy of the
// newest state. It costs nothing to throw away, which is what happens when the disk refuses it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "store/durability.h"
#include "store/snapshot.h"

namespace muster::store {

// What the store knows of a resource; its place in the list is the resource's id.
struct ResourceName {
  std::string group;  // empty for core
  std::string plural;

  std::string qualified() const { return group.empty() ? plural : plural + "." + group; }
};

class Draft {
 public:
  Draft(const State& newest, const std::vector<ResourceName>& names)
      : names_(names), maps_(newest.maps()), revision_(newest.revision()) {}

  // All of the list or, if one of its writes cannot be done, none.
  ListResult apply(std::vector<Write> list);

  struct Change {
    int resource = 0;
    Event event;
  };
  const std::vector<Change>& changes() const { return changes_; }
  std::vector<Record> records(
      const std::vector<std::string>& qualified_names) const;  // views into the changes
  std::shared_ptr<const State> finish() {
    return std::make_shared<const State>(revision_, std::move(maps_));
  }

 private:
  Result<ObjectPtr> apply_one(Write write);
  void undo_changes_from(std::size_t first);
  Status check(const Write& write, const ObjectPtr* current) const;
  std::unexpected<Error> refuse(Code code, const Key& key, std::string_view why) const;

  const std::vector<ResourceName>& names_;
  std::vector<ObjectMap> maps_;
  Revision revision_;
  std::vector<Change> changes_;
};

}  // namespace muster::store
