// Memory that clients make a server hold, such as request bodies that arrive and answers that are
// read: bounded for all clients together, for each address and for each identity, so that one
// client cannot take what the others need.
//
// At a bound a new holding has precedence over one that has lasted longer than the patience of the
// pool: an honest client is done within moments. If there is none, the new one is refused; but one
// that is alone against a bound always fits. Safe for concurrent use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace muster {

class BytePool {
 public:
  struct Limits {
    std::size_t total = 0;
    std::size_t per_address = 0;
    std::size_t per_identity = 0;
    Duration patience{};
  };
  struct Client {
    std::string address;  // either may be empty: then it has no share, only a part of the total
    std::string identity;
  };
  using Id = std::uint64_t;  // never 0
  // Called at most once, from any thread, when the holding has to make room for another. It is not
  // counted from then on.
  using Displace = std::function<void(Id)>;

  explicit BytePool(const Limits& limits) : limits_(limits) {}

  Id enter(Client client, Time now, Displace displace);
  // The holding wants so many bytes. False if there is no room, or if it was displaced; then
  // nothing has changed.
  bool resize(Id id, std::size_t bytes, Time now);
  // The same for one that can wait: it displaces nobody.
  bool resize_if_free(Id id, std::size_t bytes);
  void keep(Id id);   // It is not displaced any more.
  void leave(Id id);  // Its memory is free. No-op if it is not known.
  // Displaces the oldest holding if it has outlasted the patience. False if there is none.
  bool displace_oldest(Time now);

  std::size_t bytes() const;  // of all

 private:
  struct Holding {
    Client client;
    Time began;
    Displace displace;
    std::size_t bytes = 0;
    bool kept = false;
  };
  using Holdings = std::map<Id, Holding>;  // the oldest first
  using Shares = std::map<std::string, std::size_t>;
  using Displaced = std::vector<std::pair<Id, Displace>>;

  void count(const Client& client, std::size_t before, std::size_t after);
  void forget(Holdings::iterator holding);
  bool try_resize(Id id, std::size_t bytes, std::optional<Time> now);
  bool make_room(Id id, std::optional<Time> now, Displaced& displaced);

  const Limits limits_;
  mutable std::mutex mutex_;
  Id last_ = 0;
  Holdings holdings_;
  std::size_t total_ = 0;
  Shares by_address_;
  Shares by_identity_;
};

}  // namespace muster
