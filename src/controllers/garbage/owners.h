// Finds out about owners that the graph has not seen: carries out the questions of a verdict, and
// keeps the answers as an input of the next one. Asks the server for each owner once, a few at a
// time, and remembers those that are gone: a uid never comes back.
//
// What is remembered of all owners is bounded. So that an object with more owners than that is
// judged in the end, the answers about its owners are kept with it, until it has been judged: one
// byte for each reference.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "client/client.h"
#include "client/informer.h"
#include "client/work_queue.h"
#include "controllers/garbage/plan.h"
#include "controllers/runtime/lru.h"

namespace muster::controllers::garbage {

class Owners {
 public:
  // About a megabyte. More than most deletions leave behind at once.
  static constexpr std::size_t kMaxRemembered = 4'096;
  static constexpr int kMaxUnderWay = 16;
  // A yes is worth so much: the owner may go at any time.
  static constexpr Duration kYesHolds = std::chrono::seconds(30);
  static constexpr Duration kRetry = std::chrono::seconds(1);

  // `wake` is called for an object when all its questions are answered, or later if one was not.
  using Wake = std::function<void(const client::QueueKey& key, Duration delay)>;
  Owners(client::Client& client, Wake wake) : client_(client), wake_(std::move(wake)) {}
  ~Owners() { *alive_ = false; }
  Owners(const Owners&) = delete;

  // One per ownerReference of the object as it is now; none if there is nothing to remember.
  std::span<const Answer> found(const client::QueueKey& key, const Item& item);
  // Wakes the object when all is known, at once if it is known already.
  void ask(const client::QueueKey& key, const Item& item, const std::vector<Question>& questions);
  // The object has been judged, or is gone.
  void forget(const client::QueueKey& key) { inquiries_.erase(key); }
  bool idle() const { return askers_.empty(); }

 private:
  // The answers about one object, as long as its references stay as they are.
  struct Inquiry {
    std::uint64_t serial = 0;
    client::ObjectPtr object;
    std::vector<Answer> answers;
    std::size_t open = 0;  // questions without an answer
  };
  // A reference of an object whose inquiry has this serial number.
  struct Asker {
    client::QueueKey key;
    std::uint64_t inquiry;
    std::size_t reference;
    auto operator<=>(const Asker&) const = default;
  };

  Answer remembered(const Place& place);
  void pump();
  void tell(const Asker& asker, Answer answer);
  void took_answer(const Place& place, const Result<std::string>& answer);

  client::Client& client_;
  Wake wake_;
  Lru<Place, bool> absent_{kMaxRemembered};
  Lru<Place, Duration> present_{kMaxRemembered};  // when the server said so, by monotonic time
  std::map<client::QueueKey, Inquiry> inquiries_;
  std::uint64_t last_inquiry_ = 0;
  std::map<Place, std::set<Asker>> askers_;
  std::deque<Place> waiting_;
  int under_way_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::controllers::garbage
