#include "agent/probes/rules.h"

#include <fmt/format.h>

namespace muster::agent {
namespace {

constexpr int kTries = 3;  // of a probe that cannot be executed

// A kubelet looks at what is not ready whenever it computes a status, which it does about a second
// after a start. Most servers listen by then: without it they would be unready for a whole period.
constexpr std::chrono::seconds kSecondLook(1);

int number(json::Value probe, std::string_view name, int otherwise) {
  const json::Value value = probe.get(name);
  return value.is_int() && value.as_int() > 0 ? static_cast<int>(value.as_int()) : otherwise;
}

std::string_view kind_name(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::kStartup:
      return "Startup";
    case ProbeKind::kReadiness:
      return "Readiness";
    case ProbeKind::kLiveness:
      return "Liveness";
  }
  return "";
}

std::string_view result_name(ProbeResult result) {
  switch (result) {
    case ProbeResult::kSuccess:
      return "success";
    case ProbeResult::kWarning:
      return "warning";
    case ProbeResult::kFailure:
      return "failure";
    case ProbeResult::kUnknown:
      return "unknown";
  }
  return "";
}

std::optional<bool> initial_verdict(ProbeKind kind, bool was_ready) {
  if (kind == ProbeKind::kStartup) return std::nullopt;
  return kind == ProbeKind::kLiveness || was_ready;
}

}  // namespace

ProbeSettings probe_settings(json::Value probe) {
  const ProbeSettings defaults;
  return {
      .initial_delay = std::chrono::seconds(number(probe, "initialDelaySeconds", 0)),
      .period = std::chrono::seconds(
          number(probe, "periodSeconds", static_cast<int>(defaults.period.count()))),
      .timeout = std::chrono::seconds(
          number(probe, "timeoutSeconds", static_cast<int>(defaults.timeout.count()))),
      .success_threshold = number(probe, "successThreshold", defaults.success_threshold),
      .failure_threshold = number(probe, "failureThreshold", defaults.failure_threshold),
  };
}

// A kubelet's worker begins before its container does, so that the first tick finds nothing: a
// program has a period to get up before startup or liveness are looked at. Readiness is looked at
// as soon as the container runs. Somewhere in the first period after the initial delay a kubelet's
// tick falls; here it is the beginning, which is what the field promises.
ProbeRules::ProbeRules(ProbeKind kind, const ProbeSettings& settings, const Begin& begin)
    : kind_(kind),
      settings_(settings),
      earliest_(begin.container_started + settings.initial_delay),
      last_tick_(begin.now),
      next_tick_(begin.now),
      second_look_(kind == ProbeKind::kReadiness && !begin.adopted),
      verdict_(initial_verdict(kind, begin.was_ready)) {
  if (begin.adopted) {
    next_tick_ += begin.spread;
  } else if (settings.initial_delay.count() > 0) {
    next_tick_ = std::max(begin.now, earliest_);
  } else if (kind != ProbeKind::kReadiness) {
    next_tick_ += settings.period;
  }
}

std::optional<Time> ProbeRules::next_tick() const {
  if (finished_) return std::nullopt;
  return next_tick_;
}

bool ProbeRules::tick(Time now, bool container_has_started) {
  if (now < earliest_) {
    next_tick_ = earliest_;
    return false;
  }
  // Ticks that were missed during a long probe are one tick.
  const auto missed = std::max<std::int64_t>((now - next_tick_) / settings_.period, 0);
  next_tick_ += (missed + 1) * settings_.period;
  last_tick_ = now;
  errors_ = 0;
  return kind_ == ProbeKind::kStartup || container_has_started;
}

ProbeReaction ProbeRules::take(const ProbeOutcome& outcome) {
  ProbeReaction reaction;
  if (outcome.errored) {
    reaction.try_again = ++errors_ < kTries;
    if (reaction.try_again) return reaction;
    reaction.event_reason = "Unhealthy";
    reaction.event_message =
        fmt::format("{} probe errored and resulted in {} state: {}", kind_name(kind_),
                    result_name(outcome.result), outcome.text);
    return reaction;
  }
  const bool success =
      outcome.result == ProbeResult::kSuccess || outcome.result == ProbeResult::kWarning;
  if (outcome.result == ProbeResult::kWarning) {
    reaction.event_reason = "ProbeWarning";
    reaction.event_message = fmt::format("{} probe warning: {}", kind_name(kind_), outcome.text);
  } else if (!success) {
    reaction.event_reason = "Unhealthy";
    reaction.event_message = fmt::format("{} probe failed: {}", kind_name(kind_), outcome.text);
  }
  reaction.verdict = count(success);
  schedule_second_look(success);
  return reaction;
}

void ProbeRules::schedule_second_look(bool success) {
  if (!std::exchange(second_look_, false) || success) return;
  next_tick_ = std::min(next_tick_, last_tick_ + kSecondLook);
}

// Any different result begins a new row; a row that is long enough is a verdict.
std::optional<bool> ProbeRules::count(bool success) {
  in_a_row_ = last_ == success ? in_a_row_ + 1 : 1;
  last_ = success;
  if (in_a_row_ < (success ? settings_.success_threshold : settings_.failure_threshold)) {
    return std::nullopt;
  }
  finished_ = kind_ == ProbeKind::kStartup || (kind_ == ProbeKind::kLiveness && !success);
  if (verdict_ == success) return std::nullopt;
  verdict_ = success;
  return success;
}

}  // namespace muster::agent
