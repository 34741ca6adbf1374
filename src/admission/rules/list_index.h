// A list of the client as a map, for rules that look up one list's items in another.
//
// Clients choose the length of both lists. Calling find_by for every item costs as many steps as
// the lengths multiplied: 60,000 tolerations once blocked the server for 40 s. Building an index
// first costs n log n.
#pragma once

#include <map>
#include <set>
#include <string_view>

#include "admission/rules/edit.h"

namespace muster::admission {

// The items of a list by the text of one member. Valid as long as the list is not changed.
class ItemsBy {
 public:
  ItemsBy(Value list, std::string_view key) {
    for (const Value item : list.items()) first_.emplace(text_of(item, key), item);
  }

  // The first item that has this text; null if there is none.
  Value find(std::string_view text) const {
    const auto found = first_.find(text);
    return found == first_.end() ? Value() : found->second;
  }
  bool contains(std::string_view text) const { return first_.contains(text); }

 private:
  // Not a hash table: clients could choose texts whose hashes collide.
  std::map<std::string_view, Value> first_;
};

// The texts of a list of strings.
inline std::set<std::string_view> texts_of(Value list) {
  std::set<std::string_view> texts;
  for (const Value item : list.items())
    if (item.is_string()) texts.insert(item.as_string());
  return texts;
}

}  // namespace muster::admission
