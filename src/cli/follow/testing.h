// A JobSet that is followed without a server: events in, what is printed and asked for as text.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/follow/follow_state.h"
#include "json/parse.h"

namespace muster::cli {

using TextLines = std::vector<std::string>;

inline constexpr std::string_view kStarting =
    R"({"replicatedJobsStatus":[{"name":"work","active":1}]})";
inline constexpr std::string_view kRestarted =
    R"({"restarts":1,"replicatedJobsStatus":[{"name":"work","active":1}]})";
inline constexpr std::string_view kEndedWell =
    R"({"conditions":[{"type":"Completed","status":"True",
    "message":"jobset completed successfully"}],"replicatedJobsStatus":[{"name":"work","succeeded":1}]})";
inline constexpr std::string_view kEndedBadly = R"({"conditions":[{"type":"Failed","status":"True",
    "message":"no more restarts"}],"replicatedJobsStatus":[{"name":"work","failed":1}]})";

inline FollowPlan usual_plan() {
  return {.job_set = "train",
          .uid = "set",
          .logs = {.container = {}},
          .keys = "Ctrl-C: stop",
          .exit_code_from = {},
          .timeout = {},
          .resume_command = "RESUME"};
}

// JobSet "train" with one stage, "work", of two pods. What is printed and asked for, as text;
// timers run when the test says so, and a question for all pods is answered at once unless it says
// not to.
class Followed {
 public:
  explicit Followed(FollowPlan plan = usual_plan()) : state(std::move(plan)) {}

  Followed& tell(const FollowEvent& what) {
    for (const FollowEffect& effect : reduce(state, what, now))
      std::visit([this](const auto& one) { take(one); }, effect);
    if (answers_pods && std::exchange(asked_for_pods_, false)) tell(event::PodsComplete{});
    return *this;
  }

  Followed& set(std::string_view status, std::string_view spec = "") {
    json::Arena arena;
    const auto tree = json::parse(arena, fmt::format(R"({{"metadata":{{"name":"train","uid":"set",
            "creationTimestamp":"2026-01-01T00:00:00Z"}},"spec":{{{}"failurePolicy":{{"maxRestarts":2}},
            "replicatedJobs":[{{"name":"work","replicas":1,"template":{{"spec":{{
              "parallelism":2,"completions":2}}}}}}]}},"status":{}}})",
                                                     spec, status));
    return tell(event::JobSetSeen{.set = api::read_job_set(*tree)});
  }
  Followed& suspended() { return set("{}", R"("suspend":true,)"); }

  static story::PodFacts facts(int index, std::string_view phase, int attempt = 0) {
    story::PodFacts out;
    out.name = fmt::format("train-work-0-{}-{}", index, attempt);
    out.uid = out.name;
    out.stage = "work";
    out.job = "train-work-0";
    out.job_index = "0";
    out.pod_index = std::to_string(index);
    out.rank = out.pod_index;
    out.attempt = std::to_string(attempt);
    out.phase = phase;
    out.ready = phase == "Running";
    if (phase != "Pending") {
      out.started = Time{} + std::chrono::seconds(1);
      out.logs.push_back({.container = "main", .restarts = 0});
    }
    if (phase == "Succeeded") out.exit_code = 0;
    return out;
  }
  static story::PodFacts failed(int index, int code, int attempt = 0, int at = 5) {
    story::PodFacts out = facts(index, "Failed", attempt);
    out.exit_code = code;
    out.failure = story::ContainerEnd{.container = "main",
                                      .code = code,
                                      .reason = "Error",
                                      .message = {},
                                      .at = Time{} + std::chrono::seconds(at)};
    return out;
  }
  static story::PodFacts lacking_gpus() {
    story::PodFacts out = facts(0, "Pending");
    out.unschedulable = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.";
    return out;
  }
  static story::PodFacts lacking_cpus() {
    story::PodFacts out = facts(0, "Pending");
    out.unschedulable = "0/1 nodes are available: 1 Insufficient cpu.";
    out.lacking = {{.resource = "cpu", .amount = 100'000}};
    return out;
  }

  Followed& pod(story::PodFacts facts) { return tell(event::PodSeen{.facts = std::move(facts)}); }
  Followed& pods(std::string_view phase, int attempt = 0) {
    return pod(facts(0, phase, attempt)).pod(facts(1, phase, attempt));
  }
  Followed& gone(int index, int attempt = 0) {
    return tell(event::PodGone{.uid = facts(index, "", attempt).uid});
  }

  static LogRun log_of(int index, int attempt = 0) {
    return {.pod = facts(index, "", attempt).name,
            .uid = facts(index, "", attempt).uid,
            .container = "main",
            .prefix = fmt::format("work-0-{}", index)};
  }
  Followed& line(int index, std::string_view text, int attempt = 0) {
    return tell(event::LogLine{.log = log_of(index, attempt), .time = {}, .text = text});
  }
  Followed& log_ends(int index, int attempt = 0, const std::string& refusal = "") {
    return tell(event::LogEnded{.log = log_of(index, attempt), .refusal = refusal});
  }
  Followed& logs_end(int attempt = 0) { return log_ends(0, attempt).log_ends(1, attempt); }

  Followed& fire(FollowTimer timer) {
    EXPECT_EQ(timers.erase(timer), 1u) << "a timer that was not started";
    return tell(event::TimerFired{timer});
  }
  // The pictures that are due are drawn.
  Followed& settle() {
    return timers.contains(FollowTimer::kShow) ? fire(FollowTimer::kShow) : *this;
  }
  Followed& begin() { return tell(event::TimerFired{FollowTimer::kTick}); }
  Followed& after(int seconds) {
    for (; seconds > 0; --seconds) {
      now += std::chrono::seconds(1);
      if (timers.contains(FollowTimer::kTick)) fire(FollowTimer::kTick);
    }
    return *this;
  }
  Followed& alone() { return tell(event::Surroundings{.is_alone = true}); }
  Followed& remark(int index, std::string_view reason, std::string_view message,
                   story::PodWarning::Kind kind) {
    return tell(event::PodWarned{
        .uid = facts(index, "").uid,
        .warning = {.reason = std::string(reason), .message = std::string(message), .kind = kind}});
  }
  Followed& podless() {
    return tell(event::JobWarned{.job = "train-work-0",
                                 .message = "no account",
                                 .created = parse_time("2026-01-01T00:00:01Z")});
  }
  // Both pods run; nothing of that is of interest.
  Followed& running() {
    set(kStarting).pods("Running").settle();
    out.clear();
    return *this;
  }

  FollowState state;
  Time now{};
  TextLines out;  // notes as they are; what else there is behind a word
  std::set<FollowTimer> timers;
  bool answers_pods = true;

 private:
  void take(const effect::PrintLog& print) { out.push_back("log: " + print.line); }
  void take(const effect::Note& note) { out.push_back(note.line); }
  void take(const effect::ShowBlock& show) {
    out.push_back(fmt::format("block: {}", fmt::join(show.lines, " / ")));
  }
  void take(const effect::ClearBlock&) {
    if (state.plan.has_block) out.emplace_back("no block");
  }
  void take(const effect::ReadLog& read) {
    out.push_back(
        fmt::format("read: {} {} run {}", read.log.pod, read.log.container, read.log.run));
  }
  void take(const effect::StartTimer& start) {
    EXPECT_TRUE(timers.insert(start.timer).second) << "a timer is started while it runs";
  }
  void take(const effect::AskForRoom&) { out.emplace_back("ask: room"); }
  void take(const effect::FindAllPods&) {
    asked_for_pods_ = true;
    if (!answers_pods) out.emplace_back("ask: pods");
  }
  void take(const effect::AskServer&) { out.emplace_back("ask: server"); }
  void take(const effect::End& end) { out.push_back(fmt::format("end: {}", end.exit_code)); }

  bool asked_for_pods_ = false;
};

inline constexpr auto kFault = story::PodWarning::Kind::kFault;
inline constexpr auto kRemark = story::PodWarning::Kind::kRemark;

}  // namespace muster::cli
