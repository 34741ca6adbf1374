#include <gmock/gmock.h>

#include "agent/probes/handlers.h"
#include "json/parse.h"

namespace muster::agent {
namespace prober_test {

using runtime::RunId;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Time kStart{seconds(1'700'000'000)};
const RunId kRun{"pod-1", "main", 0};

// Handlers whose outcome the test has written down, by kind of handler.
class ScriptedHandlers final : public Handlers {
 public:
  explicit ScriptedHandlers(Loop& loop) : loop_(loop) {}

  std::map<std::string, ProbeOutcome, std::less<>> outcomes;
  Duration lasts{};
  std::vector<std::string> log;  // "exec@10"
  int running = 0;

  std::unique_ptr<Attempt> start(const ProbeTarget&, json::Value probe, ProbeDone done) override {
    const std::string kind(probe.members()[0].key);
    log.push_back(fmt::format(
        "{}@{}", kind, std::chrono::duration_cast<seconds>(loop_.clock().now() - kStart).count()));
    return std::make_unique<Pending>(
        *this, [this, kind, done = std::move(done)]() mutable { done(outcomes[kind]); });
  }
  std::unique_ptr<Attempt> start_hook(json::Value, const ProbeTarget&, Duration,
                                      Prober::HookDone) override {
    return nullptr;
  }

 private:
  struct Pending final : Attempt {
    Pending(ScriptedHandlers& owner_in, Task task)
        : owner(owner_in), timer(owner.loop_.after(owner.lasts, std::move(task))) {
      ++owner.running;
    }
    ~Pending() override {
      --owner.running;
      owner.loop_.cancel(timer);
    }
    ScriptedHandlers& owner;
    const TimerId timer;
  };
  Loop& loop_;
};

class ProberTest : public ::testing::Test {
 protected:
  ProberTest() {
    auto handlers = std::make_unique<ScriptedHandlers>(*loop_);
    handlers_ = handlers.get();
    prober_ = make_prober(
        *loop_, std::move(handlers),
        {.verdict =
             [this](const RunId& run, ProbeKind kind, bool success) {
               told_.push_back(fmt::format("{}{}{}", run.container, success ? "+" : "-",
                                           static_cast<int>(kind)));
               if (on_verdict_) on_verdict_(run);
             },
         .event = [this](
                      const RunId&, const std::string& reason,
                      const std::string& message) { events_.push_back(reason + ": " + message); }});
  }

  void add(const char* container, ProbeTarget target = {}) {
    json::Arena arena;  // gone before the probes run
    target.run = kRun;
    target.started = target.started == Time() ? kStart : target.started;
    target.container = json::parse(arena, container).value();
    prober_->add(target);
  }
  void fails(const std::string& kind) { handlers_->outcomes[kind] = {ProbeResult::kFailure, "no"}; }

  std::unique_ptr<VirtualLoop> loop_ = make_virtual_loop(kStart);
  ScriptedHandlers* handlers_ = nullptr;
  std::vector<std::string> told_;  // container, + or -, kind: 0 startup, 1 readiness, 2 liveness
  std::vector<std::string> events_;
  std::function<void(const RunId&)> on_verdict_;
  std::unique_ptr<Prober> prober_;
};

TEST_F(ProberTest, StartupFirstThenReadinessAtOnceAndLivenessAtItsTick) {
  fails("exec");
  add(R"({"startupProbe":{"exec":{},"periodSeconds":4},"readinessProbe":{"httpGet":{}},
          "livenessProbe":{"tcpSocket":{},"periodSeconds":5}})");
  loop_->run_for(seconds(5));
  EXPECT_THAT(handlers_->log, ElementsAre("exec@4"));
  handlers_->outcomes.clear();
  loop_->run_for(seconds(6));
  EXPECT_THAT(handlers_->log, ElementsAre("exec@4", "exec@8", "httpGet@8", "tcpSocket@10"));
  EXPECT_THAT(told_, ElementsAre("main+0", "main+1"));
  EXPECT_THAT(events_, ElementsAre("Unhealthy: Startup probe failed: no"));
}

TEST_F(ProberTest, AFailedLivenessIsToldOnceAndTheRunIsLeftAlone) {
  fails("exec");
  add(R"({"livenessProbe":{"exec":{},"failureThreshold":2}})");
  loop_->run_for(seconds(100));
  EXPECT_THAT(told_, ElementsAre("main-2"));
  EXPECT_THAT(handlers_->log, ElementsAre("exec@10", "exec@20"));
}

TEST_F(ProberTest, WhatCannotBeExecutedIsTriedThreeTimesAtOnce) {
  handlers_->outcomes["exec"] = {ProbeResult::kUnknown, "no such run", true};
  add(R"({"livenessProbe":{"exec":{},"failureThreshold":1}})");
  loop_->run_for(seconds(15));
  EXPECT_THAT(handlers_->log, ElementsAre("exec@10", "exec@10", "exec@10"));
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_THAT(events_, ElementsAre("Unhealthy: Liveness probe errored and resulted in unknown "
                                   "state: no such run"));
}

TEST_F(ProberTest, WhoIsToldMayRemoveTheRun) {
  on_verdict_ = [this](const RunId& run) { prober_->remove(run); };
  add(R"({"readinessProbe":{"exec":{}},"livenessProbe":{"exec":{}}})");
  loop_->run_for(seconds(100));
  EXPECT_THAT(told_, ElementsAre("main+1"));
  EXPECT_EQ(handlers_->running, 0);
}

TEST_F(ProberTest, RemovingARunAbandonsItsProbe) {
  handlers_->lasts = seconds(5);
  add(R"({"readinessProbe":{"exec":{}}})");
  loop_->run_for(seconds(1));
  EXPECT_EQ(handlers_->running, 1);
  prober_->remove(kRun);
  EXPECT_EQ(handlers_->running, 0);
  loop_->run_for(seconds(100));
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(ProberTest, OfADyingPodOnlyReadinessIsLookedAt) {
  fails("httpGet");
  add(R"({"readinessProbe":{"exec":{}},"livenessProbe":{"httpGet":{},"failureThreshold":1}})");
  loop_->run_for(seconds(1));
  prober_->only_readiness("another");
  prober_->only_readiness(kRun.pod_uid);
  loop_->run_for(seconds(20));
  EXPECT_THAT(handlers_->log, ElementsAre("exec@0", "exec@10", "exec@20"));
}

TEST_F(ProberTest, OneProbeAtATimeHoweverLongItTakes) {
  handlers_->lasts = seconds(25);
  add(R"({"livenessProbe":{"exec":{}}})");
  loop_->run_for(seconds(61));
  EXPECT_THAT(handlers_->log, ElementsAre("exec@10", "exec@35", "exec@60"));
}

TEST_F(ProberTest, AnAdoptedRunKeepsItsStateUntilProbesFindOtherwise) {
  fails("exec");
  fails("httpGet");
  add(R"({"startupProbe":{"tcpSocket":{}},"readinessProbe":{"exec":{},"failureThreshold":1}})",
      {.started = kStart - seconds(1000), .was_started = true, .was_ready = true});
  loop_->run_for(seconds(10));
  EXPECT_EQ(handlers_->log.size(), 1U);
  EXPECT_THAT(told_, ElementsAre("main-1"));
}

TEST_F(ProberTest, ARunWithoutProbesIsNoWork) {
  add(R"({"name":"main"})");
  loop_->run();  // would not return if anything were left
  EXPECT_THAT(handlers_->log, IsEmpty());
}

}  // namespace prober_test
}  // namespace muster::agent
