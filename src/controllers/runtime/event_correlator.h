// Which Event object stands for something that happened: the same thing again is a count, many
// similar things are one combined object, and a flood about one object is cut (spec: job 2.13).
// Reads no clock and writes nothing.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "controllers/runtime/lru.h"
#include "controllers/runtime/plan.h"

namespace muster::controllers {

// One Event object, as it should be.
struct EventRecord {
  Event event;  // with the newest message
  std::string name;
  std::int64_t count = 0;
  Time first;
  Time last;
  // What the recorder knows about the stored one.
  std::int64_t written = 0;  // its count; 0 if there is none
  int renames = 0;
  bool queued = false;   // waits for its turn, or is being written
  bool changed = false;  // since it was last sent
};

class EventCorrelator {
 public:
  // Objects, reasons and texts that are remembered. What is forgotten starts again with a new
  // object.
  static constexpr std::size_t kMaxRemembered = 4'096;
  // Of one reason on one object, the so-manieth different message within the window is combined
  // with those that follow.
  static constexpr std::size_t kCombineFrom = 10;
  static constexpr Duration kWindow = std::chrono::minutes(10);
  // Writes about one object: so many at once, and one more after each span.
  static constexpr double kBurst = 25;
  static constexpr Duration kRefill = std::chrono::seconds(300);

  // Null if this is one too many about that object; it is counted all the same.
  std::shared_ptr<EventRecord> observe(const Event& event, Time now);
  // A name that no earlier call gave: `<object>.<hex nanoseconds>`.
  std::string new_name(const std::string& object, Time now);

 private:
  struct Similar {
    std::set<std::string> messages;
    Time last;
  };
  struct Tokens {
    double left = kBurst;
    Time at;
  };
  bool is_combined(const std::string& similar, const std::string& message, Time now);
  bool take_token(const std::string& object, Time now);

  Lru<std::string, Similar> similar_{kMaxRemembered};
  Lru<std::string, std::shared_ptr<EventRecord>> records_{kMaxRemembered};
  Lru<std::string, Tokens> tokens_{kMaxRemembered};
  std::int64_t last_nanoseconds_ = 0;
};

}  // namespace muster::controllers
