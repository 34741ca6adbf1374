// Writes of several calls in one transaction: all of them or none. Internal to server/.
//
// Each handler makes its plan as for a call of its own, and hands it to the list instead of the
// store. All plans are then made on one snapshot, and what they want to write is submitted as one
// list. If somebody else was faster, all plans are made again on the fresh state.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "server/write.h"

namespace muster::server {

class WriteList : public std::enable_shared_from_this<WriteList> {
 public:
  // `route` brings a call to its handler, which either hands over a plan (server::carry_out) or
  // answers the call, which is then refused. Answers all calls, at once or later, on the thread of
  // their exchanges.
  static void carry_out(std::vector<CallPtr> calls,
                        const std::function<void(const CallPtr&)>& route);

  // Whether a request is one write of one object.
  static bool takes(const RequestInfo& info);
  static Error cannot_take();

  // From the handler of the call that is being routed.
  void take(Plan plan, Done done);

 private:
  struct Entry {
    CallPtr call;
    Plan plan;
    Done done;
    std::size_t warnings = 0;  // of the call, before an attempt
    Outcome outcome;           // of the newest attempt; its write is in the list
    bool writes = false;
  };

  explicit WriteList(std::vector<CallPtr> calls);
  bool collect(const std::function<void(const CallPtr&)>& route);
  void attempt();
  // What the entries want to write, in their order. If one cannot, `refused` says which.
  Result<std::vector<store::Write>> plan_all(std::size_t& refused);
  Result<std::optional<store::Write>> plan_one(Entry& entry, const store::SnapshotPtr& snapshot);
  void committed(store::ListResult written);
  void finish(const std::vector<store::ObjectPtr>& stored);
  // Ends the list because of one call. Its own answer is `why`, if it has none yet.
  void refuse(std::size_t refused, const Error& why);
  void fail_all(const Error& error);

  std::vector<Entry> entries_;
  std::size_t routed_ = 0;  // the entry whose call is being routed
};

}  // namespace muster::server
