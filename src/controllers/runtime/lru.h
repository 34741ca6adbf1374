// A map that holds so many entries and no more: the one that was not used for the longest time
// goes.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <utility>

namespace muster::controllers {

template <class Key, class Value>
class Lru {
 public:
  explicit Lru(std::size_t capacity) : capacity_(capacity) {}

  // Null if it is not there; finding is using.
  Value* find(const Key& key) {
    const auto at = places_.find(key);
    if (at == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, at->second);
    return &at->second->second;
  }

  // Made with `fresh` if it is not there. Valid until the next call.
  Value& at(const Key& key, const Value& fresh = {}) {
    if (Value* const found = find(key)) return *found;
    entries_.emplace_front(key, fresh);
    places_[key] = entries_.begin();
    if (entries_.size() > capacity_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

  void erase(const Key& key) {
    const auto at = places_.find(key);
    if (at == places_.end()) return;
    entries_.erase(at->second);
    places_.erase(at);
  }

  std::size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<Key, Value>>;
  std::size_t capacity_;
  Entries entries_;  // the latest used first
  std::map<Key, typename Entries::iterator> places_;
};

}  // namespace muster::controllers
