// The state of the store as of one revision: one persistent map per resource.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/persistent_map.h"
#include "store/store.h"

namespace muster::store {

// The key of an object in its resource's map.
std::string make_path(std::string_view ns, std::string_view name);

struct PathOf {
  std::string_view operator()(const ObjectPtr& object) const { return object->path(); }
};
using ObjectMap = PersistentMap<ObjectPtr, PathOf>;

// Puts a new version of an object into the map, or takes the object out if this is its final state.
// What happened, as watchers see it.
Event apply_change(ObjectMap& map, Write::Op op, ObjectPtr object);
// Puts back what the map held before its newest event.
void undo_change(ObjectMap& map, const Event& event);

class State final : public Snapshot {
 public:
  State(Revision revision, std::vector<ObjectMap> maps)
      : revision_(revision), maps_(std::move(maps)) {}
  // Of one resource alone.
  State(Revision revision, int resource, ObjectMap map);

  Revision revision() const override { return revision_; }
  ObjectPtr get(const Key& key) const override;
  void scan(int resource, const Range& range,
            const std::function<bool(const ObjectPtr&)>& visit) const override;
  std::size_t count(int resource, std::string_view ns) const override;

  const std::vector<ObjectMap>& maps() const { return maps_; }
  const ObjectMap& map(int resource) const;

 private:
  Revision revision_;
  std::vector<ObjectMap> maps_;
  std::optional<int> only_;
};

}  // namespace muster::store
