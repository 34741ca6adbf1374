#include "controllers/jobset/restart_backoff.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.h"

namespace muster::controllers::jobset {
namespace {

using std::chrono::seconds;

// Two quick restarts may be bad luck: a port that is still taken, a node that goes away.
constexpr Duration kRestartWindow = std::chrono::minutes(1);
constexpr Duration kCalm = std::chrono::minutes(10);
constexpr seconds kFirstWait{1};
constexpr seconds kLongestWait{60};  // a repaired set does not wait much longer than people do

constexpr std::string_view kAt = "at ", kBefore = ", before that at ", kWaits = ", waits ";

// Takes `prefix` off the text.
bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Takes the text up to the next `end`, or all of it.
std::string_view take_until(std::string_view& text, char end) {
  const std::string_view word = text.substr(0, text.find(end));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

Restart restart_after(const std::optional<Restart>& latest, Time now) {
  if (!latest || now - (latest->at + latest->wait) >= kCalm) return {.at = now, .before = {}};
  Restart out{.at = now, .before = latest->at};
  if (latest->wait > seconds(0)) {
    out.wait = std::min(latest->wait * 2, kLongestWait);
  } else if (latest->before && now - *latest->before <= kRestartWindow) {
    out.wait = kFirstWait;
  }
  return out;
}

// A clock that was set back must not make the wait longer.
Duration remaining_wait(const Restart& latest, Time now) {
  const Duration left = latest.at + latest.wait - now;
  return now < latest.at ? Duration::zero() : std::max(left, Duration::zero());
}

api::Condition condition_of(const Restart& restart) {
  api::Condition out;
  out.reason = restart.wait > seconds(0) ? "BackOff" : "AtOnce";
  out.message = fmt::format(
      "{}{}{}{}{}{} s", kAt, format_micro_time(restart.at), restart.before ? kBefore : "",
      restart.before ? format_micro_time(*restart.before) : "", kWaits, restart.wait.count());
  return out;
}

std::optional<Restart> latest_restart(const api::Conditions& conditions) {
  const auto found = std::ranges::find(conditions, kRestartedCondition, &api::Condition::type);
  if (found == conditions.end()) return std::nullopt;
  std::string_view text = found->message;
  if (!skip(text, kAt)) return std::nullopt;
  const auto at = parse_time(take_until(text, ','));
  if (!at) return std::nullopt;
  Restart out{.at = *at, .before = {}};
  if (skip(text, kBefore)) out.before = parse_time(take_until(text, ','));
  if (!skip(text, kWaits)) return std::nullopt;
  const auto wait = parse_number<std::int64_t>(take_until(text, ' '));
  if (!wait || *wait < 0) return std::nullopt;
  out.wait = std::min(seconds(*wait), kLongestWait);
  return out;
}

bool has_backoff(const api::JobSet& set, bool by_default) {
  const auto asked = set.meta.annotation(kRestartBackoff);
  if (asked == "true") return true;
  return asked != "false" && by_default;
}

}  // namespace muster::controllers::jobset
