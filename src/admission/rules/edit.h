// Small reads and edits on an object, shared by the rules of all kinds.
//
// A member that is absent and one that is null are the same thing everywhere here. Objects of
// built-in kinds are well typed when they get here; those of custom resources may hold anything
// anywhere (their types are judged last), so code that changes them looks before it writes.
#pragma once

#include <cstdint>
#include <string_view>

#include "json/value.h"

namespace muster::admission {

using json::Value;

inline bool has_value(Value object, std::string_view key) { return !object.get(key).is_null(); }

// `value` may be text of static storage, or must live in the object's arena.
inline void set_default(Value object, std::string_view key, Value value) {
  if (!has_value(object, key)) object.set(key, value);
}
// Text counts as absent when it is empty: some fields are written even so.
inline void set_default(Value object, std::string_view key, const char* literal) {
  const Value now = object.get(key);
  if (now.is_null() || (now.is_string() && now.as_string().empty()))
    object.set(key, Value::view(literal));
}

inline std::string_view text_of(Value object, std::string_view key) {
  return object.get(key).as_string();
}

// A number, or `otherwise` if the member is absent.
inline std::int64_t int_of(Value object, std::string_view key, std::int64_t otherwise = 0) {
  const Value value = object.get(key);
  return value.is_null() ? otherwise : value.as_int();
}

// The item of a list whose member `key` has this text; null if there is none. In a loop over
// another list take an ItemsBy (list_index.h) instead.
inline Value find_by(Value list, std::string_view key, std::string_view text) {
  for (const Value item : list.items())
    if (text_of(item, key) == text) return item;
  return {};
}

inline bool contains_text(Value list, std::string_view text) {
  for (const Value item : list.items())
    if (item.is_string() && item.as_string() == text) return true;
  return false;
}

// The object's member as it is in `from`: set, or erased.
inline void take_member(Value object, Value from, std::string_view key) {
  const Value value = from.get(key);
  if (value.is_null())
    object.erase(key);
  else
    object.set(key, json::clone(object.arena(), value));
}

// Of status.conditions: the one of this type is True.
inline bool condition_true(Value object, std::string_view type) {
  return text_of(find_by(object.get({"status", "conditions"}), "type", type), "status") == "True";
}

}  // namespace muster::admission
