#include "store/draft.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace muster::store {
namespace {

std::string with_revision(std::string_view head, Revision revision, std::string_view tail) {
  std::array<char, 20> digits;
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), revision).ptr;
  const std::string_view number(digits.data(), static_cast<std::size_t>(end - digits.data()));
  std::string text;
  text.reserve(head.size() + number.size() + tail.size());  // exact: it is kept for long
  text.append(head).append(number).append(tail);
  return text;
}

}  // namespace

ListResult Draft::apply(std::vector<Write> list) {
  const std::size_t before = changes_.size();
  std::vector<ObjectPtr> objects;
  objects.reserve(list.size());
  for (Write& write : list) {
    Result<ObjectPtr> object = apply_one(std::move(write));  // frees its text
    if (!object) {
      undo_changes_from(before);
      return std::unexpected(ListError{std::move(object).error(), objects.size()});
    }
    objects.push_back(*std::move(object));
  }
  return objects;
}

Result<ObjectPtr> Draft::apply_one(Write write) {
  const Key& key = write.key;
  MUSTER_ASSERT(key.resource >= 0 && static_cast<std::size_t>(key.resource) < maps_.size(),
                "no such resource");
  ObjectMap& map = maps_[static_cast<std::size_t>(key.resource)];
  MUSTER_CHECK(check(write, map.find(make_path(key.ns, key.name))));

  const Revision revision = ++revision_;
  auto object = std::make_shared<const Object>(
      key.ns, key.name, with_revision(write.head, revision, write.tail), revision);
  changes_.push_back({key.resource, apply_change(map, write.op, std::move(object))});
  return changes_.back().event.object;
}

// To undo costs only lists that are refused. A copy of the maps to go back to would cost all: with
// it no path would be private any more, and each would be copied once again.
void Draft::undo_changes_from(std::size_t first) {
  for (; changes_.size() > first; changes_.pop_back()) {
    const auto& [resource, event] = changes_.back();
    undo_change(maps_[static_cast<std::size_t>(resource)], event);
    --revision_;
  }
}

Status Draft::check(const Write& write, const ObjectPtr* current) const {
  const bool must_be_absent = write.expected == 0 && write.op == Write::Op::kPut;
  if (current == nullptr) {
    if (must_be_absent) return {};
    return refuse(Code::kNotFound, write.key, "not found");
  }
  if (must_be_absent) return refuse(Code::kAlreadyExists, write.key, "already exists");
  if ((*current)->revision() == write.expected) return {};
  return refuse(Code::kConflict, write.key,
                "the object has been modified; please apply your changes to the latest version and "
                "try again");
}

std::unexpected<Error> Draft::refuse(Code code, const Key& key, std::string_view why) const {
  const ResourceName& resource = names_[static_cast<std::size_t>(key.resource)];
  Error error{.code = code, .name = key.name, .group = resource.group, .kind = resource.plural};
  const std::string what = fmt::format("{} \"{}\"", resource.qualified(), key.name);
  error.message = code == Code::kConflict
                      ? fmt::format("Operation cannot be fulfilled on {}: {}", what, why)
                      : fmt::format("{} {}", what, why);
  return std::unexpected(std::move(error));
}

std::vector<Record> Draft::records(const std::vector<std::string>& qualified_names) const {
  std::vector<Record> records;
  records.reserve(changes_.size());
  for (const auto& [resource, event] : changes_) {
    records.push_back({.revision = event.revision,
                       .resource = qualified_names[static_cast<std::size_t>(resource)],
                       .ns = event.object->ns(),
                       .name = event.object->name(),
                       .text = event.object->bytes(),
                       .deleted = event.type == Event::Type::kDeleted});
  }
  return records;
}

}  // namespace muster::store
