// What the server says about owners that the graph has not seen. Asks for each once, a few at a
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
  // Owners that left dependents behind: more than the Jobs that may wait to start (JobLimits),
  // which may all be deleted at once. What goes with them, ten thousands of pods, does not displace
  // them.
  static constexpr std::size_t kMaxOwnersRemembered = 32'768;
  static constexpr int kMaxUnderWay = 16;
  // A yes is worth so much: the owner may go at any time.
  static constexpr Duration kYesHolds = std::chrono::seconds(30);
  static constexpr Duration kRetry = std::chrono::seconds(1);

  // `wake` is called for an object when all its questions are answered, or later if one was not.
  using Wake = std::function<void(const client::QueueKey& key, Duration delay)>;
  Owners(client::Client& client, Wake wake) : client_(client), wake_(std::move(wake)) {}
  ~Owners() { *alive_ = false; }
  Owners(const Owners&) = delete;

  Answer answer(const Place& place);
  // One per ownerReference of the object as it is now; none if there is nothing to remember.
  std::span<const Answer> found(const client::QueueKey& key, const Item& item);
  void ask(const client::QueueKey& key, const Item& item, const std::vector<Question>& questions);
  // The object has been judged, or is gone.
  void forget(const client::QueueKey& key) { inquiries_.erase(key); }
  void saw_removal(const Place& place, bool has_dependents) {
    (has_dependents ? gone_owners_ : absent_).at(place) = true;
  }
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

  void pump();
  void tell(const Asker& asker, Answer answer);
  void took_answer(const Place& place, const Result<std::string>& answer);

  client::Client& client_;
  Wake wake_;
  Lru<Place, bool> absent_{kMaxRemembered};
  Lru<Place, bool> gone_owners_{kMaxOwnersRemembered};
  Lru<Place, Time> present_{kMaxRemembered};  // when the server said so
  std::map<client::QueueKey, Inquiry> inquiries_;
  std::uint64_t last_inquiry_ = 0;
  std::map<Place, std::set<Asker>> askers_;
  std::deque<Place> waiting_;
  int under_way_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::controllers::garbage
