// What the server says about owners that the graph has not seen. Asks for each once, a few at a
// time, and remembers those that are gone: a uid never comes back.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "client/client.h"
#include "client/work_queue.h"
#include "controllers/garbage/plan.h"
#include "controllers/runtime/lru.h"

namespace muster::controllers::garbage {

class Owners {
 public:
  static constexpr std::size_t kMaxRemembered = 500;
  static constexpr int kMaxUnderWay = 16;
  // A yes is worth so much: the owner may go at any time.
  static constexpr Duration kYesHolds = std::chrono::seconds(30);
  static constexpr Duration kRetry = std::chrono::seconds(1);

  // `wake` is called for everybody who asked, when there is an answer, or later if there was none.
  using Wake = std::function<void(const client::QueueKey& key, Duration delay)>;
  Owners(client::Client& client, Wake wake) : client_(client), wake_(std::move(wake)) {}
  ~Owners() { *alive_ = false; }
  Owners(const Owners&) = delete;

  Answer answer(const Place& place);
  void ask(const Place& place, const client::QueueKey& who);
  void saw_removal(const Place& place) { absent_.at(place) = true; }
  bool idle() const { return askers_.empty(); }

 private:
  void pump();
  void took_answer(const Place& place, const Result<std::string>& answer);

  client::Client& client_;
  Wake wake_;
  Lru<Place, bool> absent_{kMaxRemembered};
  Lru<Place, Time> present_{kMaxRemembered};  // when the server said so
  std::map<Place, std::set<client::QueueKey>> askers_;
  std::deque<Place> waiting_;
  int under_way_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::controllers::garbage
