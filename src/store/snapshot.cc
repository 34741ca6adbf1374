#include "store/snapshot.h"

#include <algorithm>

namespace muster::store {
namespace {

// All paths of a namespace begin with "ns/"; this is the first string after them.
std::string end_of_namespace(std::string_view ns) { return std::string(ns) + char('/' + 1); }

// The first string after `path`.
std::string just_after(std::string path) {
  path.push_back('\0');
  return path;
}

}  // namespace

std::string make_path(std::string_view ns, std::string_view name) {
  std::string path;
  path.reserve(ns.size() + 1 + name.size());
  path.append(ns).append(1, '/').append(name);
  return path;
}

Event apply_change(ObjectMap& map, Write::Op op, ObjectPtr object) {
  Event event{.revision = object->revision(), .object = std::move(object)};
  if (const ObjectPtr* current = map.find(event.object->path())) event.previous = *current;
  if (op == Write::Op::kDelete) {
    event.type = Event::Type::kDeleted;
    map.erase(event.object->path());
  } else {
    event.type = event.previous ? Event::Type::kModified : Event::Type::kAdded;
    map.put(event.object);
  }
  return event;
}

void undo_change(ObjectMap& map, const Event& event) {
  if (event.previous) {
    map.put(event.previous);
  } else {
    map.erase(event.object->path());
  }
}

State::State(Revision revision, int resource, ObjectMap map)
    : revision_(revision), maps_(static_cast<std::size_t>(resource) + 1), only_(resource) {
  maps_.back() = std::move(map);
}

const ObjectMap& State::map(int resource) const {
  MUSTER_ASSERT(!only_ || *only_ == resource,
                "a snapshot of an earlier revision holds one resource");
  MUSTER_ASSERT(resource >= 0 && static_cast<std::size_t>(resource) < maps_.size(),
                "no such resource");
  return maps_[static_cast<std::size_t>(resource)];
}

ObjectPtr State::get(const Key& key) const {
  const ObjectPtr* found = map(key.resource).find(make_path(key.ns, key.name));
  return found == nullptr ? nullptr : *found;
}

void State::scan(int resource, const Range& range,
                 const std::function<bool(const ObjectPtr&)>& visit) const {
  std::string from = range.ns.empty() ? std::string() : make_path(range.ns, "");
  if (!range.after_ns.empty() || !range.after_name.empty()) {
    from = std::max(from, just_after(make_path(range.after_ns, range.after_name)));
  }
  if (range.ns.empty()) {
    map(resource).visit_from(from, visit);
  } else {
    map(resource).visit_from(
        from, [&](const ObjectPtr& object) { return object->ns() == range.ns && visit(object); });
  }
}

std::size_t State::count(int resource, std::string_view ns) const {
  const ObjectMap& objects = map(resource);
  if (ns.empty()) return objects.size();
  return objects.rank(end_of_namespace(ns)) - objects.rank(make_path(ns, ""));
}

}  // namespace muster::store
