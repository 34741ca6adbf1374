// A transport that fails as networks, servers and processes do, on a schedule made of a seed.
//
// One FaultyTransport is one life of a process. When it dies, nothing it asked is
// answered any more and nothing it says is heard; the next life gets a transport of its own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/rng.h"
#include "client/transport.h"

namespace muster::sim {

// A process dies at its n-th write (counted over all its lives, from 1; events and leases do not
// count).
struct CrashPoint {
  std::string process;  // empty: the first one
  std::size_t write = 0;
  bool after = false;        // the server has carried it out; the answer is not heard
  bool stale_cache = false;  // the next life first sees the state before its last few writes
};

struct FaultRates {
  double crash = 0;        // per write; before or after it
  double lost_answer = 0;  // per write: carried out, but answered with a broken connection
  double refused = 0;      // per write: 503, not carried out
  double conflict = 0;     // per write: 409, not carried out
  double cut = 0;          // per piece of a watch: the stream breaks; of a feed: it begins again
  double repeat = 0;       // per reopened watch: it begins some revisions earlier
  Duration write_delay{};  // up to so much before a write arrives
  Duration watch_delay{};  // up to so much before a piece of a watch or feed arrives
  static FaultRates none() { return {}; }
  static FaultRates rough();  // what R9 runs under
};

// What the lives of one process share.
struct FaultState {
  explicit FaultState(std::uint64_t seed) : rng(seed) {}
  Rng rng;
  FaultRates rates;
  std::optional<CrashPoint> crash_point;
  std::size_t writes = 0;
  std::vector<std::uint64_t> revision_before;   // of the store, per write
  std::function<std::uint64_t()> revision_now;  // of the store
  std::function<void(std::string)> on_write;    // "POST /apis/batch/v1/…"
  std::function<void()> on_death;               // posted to the loop, once per life
  // Set between a death and the next life's first lists: they show this revision.
  std::optional<std::uint64_t> stale_revision;
};

// With a store informers read from its feed, else they list and watch. All of these outlive the
// transport.
std::unique_ptr<client::Transport> make_faulty_transport(client::Transport& inner,
                                                         FaultState& state,
                                                         store::Store* store = nullptr);

}  // namespace muster::sim
