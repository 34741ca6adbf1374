// Where an informer gets the objects of one kind from. There are two sources: list and watch over a
// transport (list_watch.h), and the feed of a store in this process (feed.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "json/value.h"
#include "store/store.h"

namespace muster::client {

using store::ObjectPtr;

// A resourceVersion as a number; 0 if it is none.
store::Revision to_revision(std::string_view text);

class Source {
 public:
  virtual ~Source() = default;  // nothing is told afterwards

  // Every change up to this revision has been told; 0 while a list comes in, whose order is
  // another.
  virtual store::Revision position() const = 0;

  // One version of an object.
  struct Version {
    ObjectPtr object;
    json::Value content;  // null if only metadata were asked for; valid until the call returns
    ObjectPtr kept;       // what to keep of it once the change has been told
  };

  // What a source tells, on the client's loop.
  struct Listener {
    std::function<void()> state_begins;  // all objects that there are follow, then state_ends
    std::function<void(const Version&)> put;
    std::function<void(const std::string& path)> remove;  // "ns/name"; perhaps of one never told
    std::function<void()> state_ends;
  };
};

}  // namespace muster::client
