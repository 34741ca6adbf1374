// An agent that is killed after every single step of a pod's life, and another one that takes over:
// the pod ends as if nothing had happened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "agent/testing.h"

namespace muster::agent {
namespace kill_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Virtual time that stops after a number of steps; a step is one task.
class CountedLoop final : public VirtualLoop {
 public:
  const Clock& clock() const override { return inner_->clock(); }
  Duration monotonic() const override { return inner_->monotonic(); }
  void post(Task task) override { inner_->post(counted(std::move(task))); }
  TimerId after(Duration delay, Task task) override {
    return inner_->after(delay, counted(std::move(task)));
  }
  void cancel(TimerId timer) override { inner_->cancel(timer); }
  void watch_readable(int fd, std::function<void()> ready) override {
    inner_->watch_readable(fd, std::move(ready));
  }
  void unwatch(int fd) override { inner_->unwatch(fd); }
  void run() override { inner_->run(); }
  void stop() override { inner_->stop(); }
  void run_for(Duration span) override { inner_->run_for(span); }
  void set_clock(Duration ahead) override { inner_->set_clock(ahead); }

  void stop_after(std::size_t steps) { left_ = steps; }
  bool stopped() const { return left_ == 0; }

  std::function<void()> after_each;

 private:
  Task counted(Task task) {
    return [this, task = std::move(task)]() mutable {
      task();
      if (after_each) after_each();
      if (left_ && *left_ > 0 && --*left_ == 0) inner_->stop();
    };
  }

  std::unique_ptr<VirtualLoop> inner_ = make_virtual_loop(testing::TestNode::kStart);
  std::optional<std::size_t> left_;
};

struct Program {
  std::vector<int> codes = {0};  // of its runs; the last one of all that follow
  Duration lasts = milliseconds(300);
};

struct Scenario {
  std::string_view name;
  std::string_view spec;
  std::string_view annotations = "{}";
  std::map<std::string, Program> programs;     // by container; others run until they are stopped
  std::optional<Duration> barrier_opens = {};  // after the pod was made
  std::optional<Duration> deleted = {};        // likewise
  int probe_code = 0;
  std::string_view ends_as;  // phase, then each container: name:code*executions
};

struct Kill {
  std::optional<std::size_t> after_steps;  // nothing: never
  Duration away{};                         // until the next agent begins
};

// The life of one pod under agents of which the first one may be killed.
class Life {
 public:
  Life(const Scenario& scenario, Kill kill) : scenario_(scenario), kill_(kill) {
    node_.machine.set_programs([this](const runtime::RunSpec& spec) {
      ++executions_[spec.container];
      runtime::FakeProgram program;
      const auto at = scenario_.programs.find(spec.container);
      if (at == scenario_.programs.end()) return program;
      const auto& codes = at->second.codes;
      program.lasts = at->second.lasts;
      program.exit.code =
          codes[std::min<std::size_t>(codes.size() - 1, static_cast<std::size_t>(spec.number))];
      return program;
    });
    node_.machine.set_commands([this](const runtime::ExecSpec&) {
      return runtime::FakeCommand{.exit_code = scenario_.probe_code};
    });
    loop_->after_each = [this] { node_.machine.look_at_gates(); };
  }

  // How it ended.
  std::string live() {
    node_.make_config_map("gang", "{}");
    node_.start_agent();
    if (kill_.after_steps) loop_->stop_after(*kill_.after_steps);
    const Time start = loop_->clock().now();
    node_.submit(node_.creation(
        testing::TestNode::pod_text("p", scenario_.spec, "here", scenario_.annotations)));
    constexpr Duration kLook = milliseconds(50);
    constexpr int kMostLooks = 2'000;
    for (int i = 0; i < kMostLooks && !is_over(); ++i) {
      happen(loop_->clock().now() - start);
      loop_->run_for(kLook);
      replace_agent();
    }
    EXPECT_TRUE(is_over()) << node_.phase("p");
    return summary();
  }
  bool killed() const { return killed_; }

 private:
  bool is_over() {
    created_ = created_ || !node_.pod("p").is_null();
    if (!created_) return false;
    const std::string phase = node_.phase("p");
    return (phase.empty() || phase == "Succeeded" || phase == "Failed") &&
           node_.machine.pods().empty();
  }

  void replace_agent() {
    if (killed_ || !loop_->stopped()) return;
    killed_ = true;
    node_.stop_agent();
    loop_->run_for(kill_.away);
    node_.start_agent();
  }

  void happen(Duration age) {
    if (scenario_.barrier_opens && age >= *scenario_.barrier_opens && !std::exchange(opened_, true))
      node_.submit(node_.config_map_patch("gang", R"({"go":""})"));
    if (scenario_.deleted && age >= *scenario_.deleted && !std::exchange(deleted_, true))
      node_.submit(node_.deletion("p", 2));
  }

  std::string summary() {
    const json::Value status = node_.pod("p").get("status");
    std::string text = status.is_null() ? "gone" : node_.phase("p");
    for (const std::string_view part : {"initContainerStatuses", "containerStatuses"}) {
      for (const json::Value each : status.get(part).items()) {
        const std::string name(each.get("name").as_string());
        const json::Value end = each.get({"state", "terminated"});
        text += fmt::format(" {}:{}", name, end.is_null() ? -1 : end.get("exitCode").as_int());
        if (name != "group-scheduling-init") text += fmt::format("*{}", executions_[name]);
      }
    }
    return text;
  }

  const Scenario& scenario_;
  const Kill kill_;
  CountedLoop* loop_ = new CountedLoop;
  testing::TestNode node_{std::unique_ptr<VirtualLoop>(loop_)};
  std::map<std::string, int> executions_;
  bool created_ = false;
  bool killed_ = false;
  bool opened_ = false;
  bool deleted_ = false;
};

const std::deque<Scenario>& scenarios() {
  static const std::deque<Scenario> all = {
      {.name = "ABarrierThatOpensLater",
       .spec = R"({"restartPolicy":"Never","initContainers":[{"name":"i"},
                   {"name":"group-scheduling-init"}],"containers":[{"name":"a"},{"name":"b"}]})",
       .annotations = R"({"muster.dev/barrier":"gang/go"})",
       .programs = {{"i", {}}, {"a", {}}, {"b", {.lasts = milliseconds(100)}}},
       .barrier_opens = milliseconds(700),
       .ends_as = "Succeeded i:0*1 group-scheduling-init:0 a:0*1 b:0*1"},
      {.name = "ABarrierThatIsOpen",
       .spec = R"({"restartPolicy":"Never","initContainers":[{"name":"group-scheduling-init"}],
                   "containers":[{"name":"a"}]})",
       .annotations = R"({"muster.dev/barrier":"gang/go"})",
       .programs = {{"a", {}}},
       .barrier_opens = Duration::zero(),
       .ends_as = "Succeeded group-scheduling-init:0 a:0*1"},
      {.name = "ABarrierThatNeverOpens",
       .spec = R"({"restartPolicy":"Never","initContainers":[{"name":"group-scheduling-init"}],
                   "containers":[{"name":"a"}]})",
       .annotations = R"({"muster.dev/barrier":"gang/go","muster.dev/barrier-timeout":"2"})",
       .ends_as = "Failed group-scheduling-init:1 a:-1*0"},
      {.name = "AGangMemberThatFails",
       .spec =
           R"({"restartPolicy":"OnFailure","initContainers":[{"name":"s","restartPolicy":"Always"},
                   {"name":"group-scheduling-init"}],"containers":[{"name":"a"}]})",
       .annotations = R"({"muster.dev/barrier":"gang/go"})",
       .programs = {{"a", {.codes = {1, 0}}}},
       .barrier_opens = milliseconds(400),
       .ends_as = "Succeeded s:143*1 group-scheduling-init:0 a:0*2"},
      {.name = "InitContainersSidecarsAndProbes",
       .spec = R"({"restartPolicy":"OnFailure","initContainers":[{"name":"i"},
                   {"name":"s","restartPolicy":"Always",
                    "startupProbe":{"exec":{"command":["x"]},"periodSeconds":1}},{"name":"j"}],
                   "containers":[{"name":"a","readinessProbe":{"exec":{"command":["x"]}},
                    "livenessProbe":{"exec":{"command":["x"]},"periodSeconds":1},
                    "lifecycle":{"postStart":{"exec":{"command":["x"]}}}}]})",
       .programs = {{"i", {.codes = {1, 0}}}, {"j", {}}, {"a", {.lasts = seconds(3)}}},
       .ends_as = "Succeeded i:0*2 s:143*1 j:0*1 a:0*1"},
      {.name = "EverythingBeginsAnew",
       .spec = R"({"restartPolicy":"Never","initContainers":[{"name":"i"}],"containers":[
                   {"name":"a","restartPolicy":"Never","restartPolicyRules":[
                     {"action":"RestartAllContainers",
                      "exitCodes":{"operator":"In","values":[42]}}]},{"name":"b"}]})",
       .programs = {{"i", {}}, {"a", {.codes = {42, 0}}}, {"b", {.lasts = seconds(2)}}},
       .ends_as = "Succeeded i:0*2 a:0*2 b:0*2"},
      {.name = "AnInitContainerThatFails",
       .spec = R"({"restartPolicy":"Never","initContainers":[{"name":"i"}],
                   "containers":[{"name":"a"}]})",
       .programs = {{"i", {.codes = {3}}}},
       .ends_as = "Failed i:3*1 a:-1*0"},
      {.name = "AProbeThatFails",
       .spec = R"({"restartPolicy":"Never","terminationGracePeriodSeconds":2,"containers":[
                   {"name":"a","livenessProbe":{"exec":{"command":["x"]},"periodSeconds":1,
                    "failureThreshold":2}}]})",
       .probe_code = 1,
       .ends_as = "Failed a:143*1"},
      {.name = "APodThatIsDeleted",
       .spec = R"({"initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}],
                   "containers":[{"name":"a","lifecycle":{"preStop":{"exec":{"command":["x"]}}}}]})",
       .programs = {{"i", {}}},
       .deleted = milliseconds(900),
       .ends_as = "gone"},
  };
  return all;
}

class KilledAgent : public ::testing::TestWithParam<std::size_t> {};

TEST_P(KilledAgent, ChangesNothing) {
  const Scenario& scenario = scenarios()[GetParam()];
  ASSERT_EQ(Life(scenario, {}).live(), scenario.ends_as);
  for (const Duration away : {Duration::zero(), Duration(seconds(5))}) {
    constexpr std::size_t kMostSteps = 5'000;
    // Who comes back at once comes back everywhere; the rest is a sample, for the sake of time.
    const std::size_t stride = away == Duration::zero() ? 1 : 3;
    for (std::size_t steps = 1; steps < kMostSteps; steps += stride) {
      Life life(scenario, {.after_steps = steps, .away = away});
      ASSERT_EQ(life.live(), scenario.ends_as)
          << "killed after " << steps << " steps, away for " << away / milliseconds(1) << " ms";
      if (!life.killed()) break;
      ASSERT_LT(steps + stride, kMostSteps) << "it never ends";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AtEveryStep, KilledAgent,
                         ::testing::Range(std::size_t{0}, scenarios().size()),
                         [](const auto& each) {
                           return std::string(scenarios()[each.param].name);
                         });

}  // namespace kill_test
}  // namespace muster::agent
