#include "controllers/runtime/event_correlator.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::controllers {
namespace {

// No name, kind or reason holds a line break.
std::string object_key(const ObjectRef& object) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", object.api_version, object.kind, object.ns, object.name,
                     object.uid);
}

}  // namespace

std::shared_ptr<EventRecord> EventCorrelator::observe(const Event& event, Time now) {
  const std::string object = object_key(event.regarding);
  const std::string similar =
      fmt::format("{}\n{}\n{}", object, event.warning ? "W" : "N", event.reason);
  const bool combined = is_combined(similar, event.message, now);

  const std::string same = similar + "\n" + event.regarding.field_path + "\n" + event.message;
  auto& slot = records_.at(combined ? similar : same);
  if (!slot) {
    slot = std::make_shared<EventRecord>(EventRecord{
        .event = event, .name = new_name(event.regarding.name, now), .first = now, .last = now});
  }
  const std::shared_ptr<EventRecord> record = slot;
  ++record->count;
  record->last = now;
  if (combined) record->event.message = "(combined from similar events): " + event.message;
  return take_token(object, now) ? record : nullptr;
}

bool EventCorrelator::is_combined(const std::string& similar, const std::string& message,
                                  Time now) {
  Similar& seen = similar_.at(similar, {.messages = {}, .last = now});
  if (now - seen.last > kWindow) seen.messages.clear();
  seen.last = now;
  if (seen.messages.size() < kCombineFrom - 1) seen.messages.insert(message);
  return !seen.messages.contains(message);
}

bool EventCorrelator::take_token(const std::string& object, Time now) {
  Tokens& tokens = tokens_.at(object, {.left = kBurst, .at = now});
  const Duration passed = std::max(Duration::zero(), now - tokens.at);  // clocks are set back, too
  const double grown = static_cast<double>(passed.count()) / static_cast<double>(kRefill.count());
  tokens.left = std::min(kBurst, tokens.left + grown);
  tokens.at = now;
  if (tokens.left < 1) return false;
  tokens.left -= 1;
  return true;
}

std::string EventCorrelator::new_name(const std::string& object, Time now) {
  // A name may have 253 letters; the dot and the number take up to 17 of them.
  constexpr std::size_t kLongestObject = 236;
  const std::int64_t nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  last_nanoseconds_ = std::max(nanoseconds, last_nanoseconds_ + 1);
  return fmt::format("{}.{:x}", object.substr(0, kLongestObject), last_nanoseconds_);
}

}  // namespace muster::controllers
