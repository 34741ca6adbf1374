#include "agent/probes/rules.h"

#include <gmock/gmock.h>

#include "json/parse.h"

namespace muster::agent {
namespace rules_test {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Time kStart{seconds(1'700'000'000)};
const ProbeOutcome kFine{ProbeResult::kSuccess, "", false};
const ProbeOutcome kBad{ProbeResult::kFailure, "no", false};
const ProbeOutcome kBroken{ProbeResult::kUnknown, "cannot", true};

ProbeSettings settings_of(const char* text) {
  json::Arena arena;
  return probe_settings(json::parse(arena, text).value());
}

ProbeRules rules(ProbeKind kind, const ProbeSettings& settings = {}) {
  return {kind, settings, {.now = kStart, .container_started = kStart}};
}

TEST(ProbeSettings, WhatIsNotSaidHasItsDefault) {
  const ProbeSettings none = settings_of("{}");
  EXPECT_EQ(none.initial_delay, seconds(0));
  EXPECT_EQ(none.period, seconds(10));
  EXPECT_EQ(none.timeout, seconds(1));
  EXPECT_EQ(none.success_threshold, 1);
  EXPECT_EQ(none.failure_threshold, 3);
  const ProbeSettings all = settings_of(
      R"({"initialDelaySeconds":5,"periodSeconds":2,"timeoutSeconds":3,"successThreshold":4,"failureThreshold":6})");
  EXPECT_EQ(all.initial_delay, seconds(5));
  EXPECT_EQ(all.period, seconds(2));
  EXPECT_EQ(all.timeout, seconds(3));
  EXPECT_EQ(all.success_threshold, 4);
  EXPECT_EQ(all.failure_threshold, 6);
}

// The seconds after the start at which a probe is executed, whose outcome is always the same.
std::vector<int> executions(ProbeRules rules, const ProbeOutcome& outcome, bool started = true,
                            int until = 35) {
  std::vector<int> out;
  while (const auto at = rules.next_tick()) {
    const auto second = std::chrono::duration_cast<seconds>(*at - kStart).count();
    if (second > until) break;
    if (!rules.tick(*at, started)) continue;
    out.push_back(static_cast<int>(second));
    rules.take(outcome);
  }
  return out;
}

TEST(ProbeTicks, StartupAndLivenessGiveAProgramAPeriod) {
  EXPECT_THAT(executions(rules(ProbeKind::kLiveness), kFine), ElementsAre(10, 20, 30));
  EXPECT_THAT(executions(rules(ProbeKind::kStartup), kBad), ElementsAre(10, 20, 30));
}

TEST(ProbeTicks, ReadinessLooksAtOnceAndOnceMoreAfterASecond) {
  EXPECT_THAT(executions(rules(ProbeKind::kReadiness), kFine), ElementsAre(0, 10, 20, 30));
  EXPECT_THAT(executions(rules(ProbeKind::kReadiness), kBad), ElementsAre(0, 1, 11, 21, 31));
}

TEST(ProbeTicks, TheInitialDelayIsSatOut) {
  EXPECT_THAT(executions(rules(ProbeKind::kLiveness, {.initial_delay = seconds(15)}), kFine),
              ElementsAre(15, 25, 35));
  EXPECT_THAT(
      executions(rules(ProbeKind::kReadiness, {.initial_delay = seconds(3), .period = seconds(2)}),
                 kFine, true, 9),
      ElementsAre(3, 5, 7, 9));
}

TEST(ProbeTicks, ATimerThatIsEarlyByTheClockIsSetAgain) {
  ProbeRules liveness = rules(ProbeKind::kLiveness, {.initial_delay = seconds(5)});
  EXPECT_FALSE(liveness.tick(kStart + seconds(5) - Duration(1), true));
  EXPECT_EQ(liveness.next_tick(), kStart + seconds(5));
  EXPECT_TRUE(liveness.tick(kStart + seconds(5), true));
}

TEST(ProbeTicks, OthersWaitForStartup) {
  EXPECT_THAT(executions(rules(ProbeKind::kReadiness), kFine, false), IsEmpty());
  EXPECT_THAT(executions(rules(ProbeKind::kLiveness), kFine, false), IsEmpty());
}

TEST(ProbeTicks, TheyCountAnewFromAnImmediateLook) {
  ProbeRules readiness = rules(ProbeKind::kReadiness);
  EXPECT_FALSE(readiness.tick(kStart, false));
  readiness.look_now(kStart + seconds(3));
  EXPECT_THAT(executions(readiness, kFine), ElementsAre(3, 13, 23, 33));
}

TEST(ProbeTicks, ThoseMissedDuringALongProbeAreOne) {
  ProbeRules slow = rules(ProbeKind::kLiveness);
  EXPECT_TRUE(slow.tick(kStart + seconds(10), true));
  slow.take(kFine);  // took until second 45
  EXPECT_EQ(slow.next_tick(), kStart + seconds(20));
  EXPECT_TRUE(slow.tick(kStart + seconds(45), true));
  EXPECT_EQ(slow.next_tick(), kStart + seconds(50));
}

TEST(ProbeTicks, AnAdoptedRunIsLookedAtWithinItsFirstPeriod) {
  const ProbeRules adopted(ProbeKind::kLiveness, {},
                           {.now = kStart,
                            .container_started = kStart - seconds(100),
                            .adopted = true,
                            .spread = seconds(4)});
  EXPECT_THAT(executions(adopted, kFine), ElementsAre(4, 14, 24, 34));
}

// What is said after each outcome: '.' success, 'x' failure, '!' error. + and - are verdicts.
std::string verdicts(ProbeRules rules, std::string_view outcomes) {
  std::string out;
  for (const char c : outcomes) {
    const auto at = rules.next_tick();
    if (!at) return out + "|";
    rules.tick(*at, true);
    ProbeReaction reaction = rules.take(c == '.' ? kFine : c == 'x' ? kBad : kBroken);
    while (reaction.try_again) reaction = rules.take(kBroken);
    out += !reaction.verdict ? ' ' : *reaction.verdict ? '+' : '-';
  }
  return rules.next_tick() ? out : out + "|";
}

TEST(ProbeVerdicts, Table) {
  const ProbeSettings two_up{.success_threshold = 2};
  const ProbeSettings once{.failure_threshold = 1};
  struct Row {
    ProbeKind kind;
    ProbeSettings settings;
    const char* outcomes;
    const char* verdicts;
  };
  const Row rows[] = {
      // Readiness begins as a failure, and goes on for ever.
      {ProbeKind::kReadiness, {}, "xxxxx", "     "},
      {ProbeKind::kReadiness, {}, "x.xxx.", " +  -+"},
      {ProbeKind::kReadiness, {}, ".xx.xxx", "+     -"},
      {ProbeKind::kReadiness, two_up, "..x.xxx", " +    -"},
      {ProbeKind::kReadiness, two_up, ".x.x..", "     +"},
      // Liveness begins as a success and says one thing once.
      {ProbeKind::kLiveness, {}, ".xx.xxx", "      -|"},
      {ProbeKind::kLiveness, once, "x", "-|"},
      // Startup begins as nothing and ends with its verdict.
      {ProbeKind::kStartup, {}, "xx.", "  +|"},
      {ProbeKind::kStartup, {}, "xxx", "  -|"},
      // What could not be executed counts for nothing: the row goes on behind it.
      {ProbeKind::kLiveness, {}, "xx!x", "   -|"},
      {ProbeKind::kReadiness, {}, "!!!!", "    "},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(verdicts(rules(row.kind, row.settings), row.outcomes), row.verdicts) << row.outcomes;
  }
}

TEST(ProbeVerdicts, WhatWasReadyIsUntilItFails) {
  ProbeRules adopted(
      ProbeKind::kReadiness, {},
      {.now = kStart, .container_started = kStart, .adopted = true, .was_ready = true});
  EXPECT_EQ(verdicts(adopted, ".xxx"), "   -");
}

TEST(ProbeErrors, ThreeTriesAtOnceThenAnEvent) {
  ProbeRules readiness = rules(ProbeKind::kReadiness);
  readiness.tick(kStart, true);
  EXPECT_TRUE(readiness.take(kBroken).try_again);
  EXPECT_TRUE(readiness.take(kBroken).try_again);
  const ProbeReaction last = readiness.take(kBroken);
  EXPECT_FALSE(last.try_again);
  EXPECT_EQ(last.event_reason, "Unhealthy");
  EXPECT_EQ(last.event_message, "Readiness probe errored and resulted in unknown state: cannot");
  readiness.tick(*readiness.next_tick(), true);
  EXPECT_TRUE(readiness.take(kBroken).try_again);
}

TEST(ProbeMessages, Table) {
  const ProbeReaction failed = rules(ProbeKind::kStartup).take(kBad);
  EXPECT_EQ(failed.event_reason, "Unhealthy");
  EXPECT_EQ(failed.event_message, "Startup probe failed: no");
  const ProbeReaction warned =
      rules(ProbeKind::kLiveness).take({ProbeResult::kWarning, "moved", false});
  EXPECT_EQ(warned.event_reason, "ProbeWarning");
  EXPECT_EQ(warned.event_message, "Liveness probe warning: moved");
  EXPECT_EQ(rules(ProbeKind::kReadiness).take(kFine).event_message, "");
  EXPECT_EQ(rules(ProbeKind::kReadiness).take({ProbeResult::kWarning, "moved", false}).verdict,
            true);
}

}  // namespace rules_test
}  // namespace muster::agent
