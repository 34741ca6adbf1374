// The changes of a store in this process, told to informers in the one order of revisions.
//
// Informers of one feed never disagree: when one of them is told a change, every change of every
// kind before it has been told to all of them. They are given the stored objects themselves, which
// are immutable and shared. The tree of a changed object is parsed once for all informers of its
// kind and lives until the change has been told. When a state is told, each informer parses for
// itself.
//
// Used on one loop. Informers must be gone before that loop; the store outlives the feed.
#pragma once

#include <memory>

#include "api/schema/registry.h"
#include "base/loop.h"
#include "client/client.h"
#include "client/source.h"
#include "store/store.h"

namespace muster::client {

class Feed {
 public:
  Feed(store::Store& store, Loop& loop);
  ~Feed();
  Feed(const Feed&) = delete;

  // Tells the state, then the changes, beginning with a later task of the loop. `resource` must be
  // a version that is stored.
  std::unique_ptr<Source> open(const api::Resource& resource, const ListOptions& options,
                               Source::Listener listener);
  // As if the store had forgotten the changes that come next: the state is told anew. For tests.
  void begin_again();

 private:
  class Teller;
  class Seat;
  std::shared_ptr<Teller> teller_;
};

}  // namespace muster::client
