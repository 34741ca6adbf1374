// Random lives of random pods: what must never happen (pod-lifecycle 9) does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/lifecycle/recall.h"
#include "agent/lifecycle/testing.h"
#include "base/rng.h"

namespace muster::agent {
namespace random_test {

using std::chrono::seconds;
using testing::Story;

std::string random_container(Rng& rng, int number, bool init) {
  std::string text = fmt::format(R"({{"name":"{}{}")", init ? "i" : "c", number);
  if (init && rng.chance(0.4)) text += R"(,"restartPolicy":"Always")";
  if (!init && rng.chance(0.2)) {
    text += fmt::format(R"(,"restartPolicy":"Never","restartPolicyRules":[{{"action":"{}",)"
                        R"("exitCodes":{{"operator":"In","values":[42]}}}}])",
                        rng.chance(0.5) ? "Restart" : "RestartAllContainers");
  }
  if (!init && rng.chance(0.2)) text += R"(,"lifecycle":{"preStop":{}})";
  if (rng.chance(0.2)) text += R"(,"readinessProbe":{})";
  return text + "}";
}

std::string random_spec(Rng& rng, bool barrier) {
  constexpr std::array kPolicies = {"Always", "OnFailure", "Never"};
  std::string inits, mains;
  for (std::uint64_t i = 0, n = rng.below(3); i < n; ++i)
    inits += (inits.empty() ? "" : ",") + random_container(rng, static_cast<int>(i), true);
  if (barrier)
    inits += std::string(inits.empty() ? "" : ",") + R"({"name":"group-scheduling-init"})";
  for (std::uint64_t i = 0, n = 1 + rng.below(3); i < n; ++i)
    mains += (mains.empty() ? "" : ",") + random_container(rng, static_cast<int>(i), false);
  std::string spec = fmt::format(
      R"({{"restartPolicy":"{}","terminationGracePeriodSeconds":{},"initContainers":[{}],"containers":[{}])",
      kPolicies[rng.below(3)], rng.below(10), inits, mains);
  if (rng.chance(0.2)) spec += R"(,"activeDeadlineSeconds":100)";
  return spec + "}";
}

// The processes of the pod, as the machine that runs them sees it.
class World {
 public:
  explicit World(std::uint64_t seed)
      : rng_(seed),
        barrier_(rng_.chance(0.3)),
        pod_(random_spec(rng_, barrier_),
             barrier_ ? R"({"muster.dev/barrier":"c/k","muster.dev/barrier-timeout":"30"})"
                      : "{}") {}

  void live() {
    look();
    for (int i = 0; i < 120 && !::testing::Test::HasFatalFailure(); ++i) {
      happen();
      look();
    }
    finish();
  }

 private:
  struct Process {
    bool exec = false;
    bool signalled = false;
    bool killed = false;
  };

  void look() {
    const PodView view = pod_.view();
    for (const std::string& action : pod_.step()) act(action);
    check(view);
  }

  void act(const std::string& action) {
    const std::string verb = action.substr(0, action.find(' '));
    const std::string name = action.substr(action.find(' ') + 1);
    if (verb == "start" || verb == "hold") {
      ASSERT_FALSE(live_.contains(name)) << "(a) two live runs of " << name;
      ASSERT_FALSE(deleted_) << "started after deletion";
      ASSERT_FALSE(done_.contains(name)) << "(b) a finished container runs again: " << name;
      live_[name] = {};
    } else if (verb == "term") {
      if (live_.contains(name)) live_[name].signalled = true;
    } else if (verb == "kill") {
      if (live_.contains(name)) live_[name].killed = true;
    } else if (verb == "pre-stop") {
      pre_stops_.push_back(name);
    }
  }

  void happen() {
    switch (rng_.below(9)) {
      case 0:
      case 1:
        return execute_one();
      case 2:
      case 3:
        return end_one();
      case 4:
        pod_.now += seconds(rng_.below(40));
        return;
      case 5:
        pod_.now += seconds(rng_.below(700));
        return;
      case 6:
        return end_hook();
      case 7:
        if (rng_.chance(0.1)) is_deleted();
        if (barrier_ && rng_.chance(0.3)) pod_.memory.barrier_open = true;
        return;
      default:
        if (rng_.chance(0.15)) restart_agent();
    }
  }

  std::optional<std::string> pick(auto wanted) {
    std::vector<std::string> names;
    for (const auto& [name, process] : live_)
      if (wanted(process)) names.push_back(name);
    if (names.empty()) return std::nullopt;
    return names[rng_.below(names.size())];
  }

  void execute_one() {
    const auto name = pick([&](const Process& process) { return !process.exec; });
    if (!name || pod_.run_of(*name).held) return;
    live_[*name].exec = true;
    pod_.run_of(*name).started = pod_.now;
  }

  void end_one() {
    const auto name = pick([](const Process& process) { return process.exec || process.killed; });
    if (!name) return;
    const Process process = live_[*name];
    constexpr std::array kCodes = {0, 0, 1, 42};
    const int code = process.killed ? 137 : process.signalled ? 143 : kCodes[rng_.below(4)];
    live_.erase(*name);
    pod_.run_of(*name).end =
        End{.code = code, .reason = code == 0 ? "Completed" : "Error", .finished = pod_.now};
  }

  void end_hook() {
    for (const std::string& name : std::exchange(pre_stops_, {})) {
      auto& run = pod_.memory.containers[*pod_.view().find(name)].run;
      if (run && run->stop) run->stop->pre_stop = Hook::kDone;
    }
  }

  void is_deleted() {
    deleted_ = true;
    for (const std::string& action : pod_.is_deleted(static_cast<int>(rng_.below(30)))) act(action);
  }

  // Everything that was in memory is gone; what runs is found again.
  void restart_agent() {
    const PodView view = pod_.view();
    std::vector<FoundRun> found;
    for (std::size_t i = 0; i < view.containers.size(); ++i) {
      const auto& run = pod_.memory.containers[i].run;
      if (!run || view.containers[i].barrier) continue;
      found.push_back({view.containers[i].name, Run{.number = run->number,
                                                    .id = run->id,
                                                    .held = run->held,
                                                    .started = run->started,
                                                    .end = run->end}});
    }
    const bool open = pod_.memory.barrier_open;
    pod_.memory = recall(view, pod_.status(), found, pod_.now);
    pod_.memory.prepared = true;
    pod_.memory.barrier_open = open;
    pre_stops_.clear();
  }

  void check(const PodView& view) {
    const std::string phase = pod_.phase();
    const bool over = phase == "Succeeded" || phase == "Failed";
    ASSERT_FALSE(over && !live_.empty()) << "(d) " << phase << " while a process lives";
    ASSERT_TRUE(over_as_.empty() || phase == over_as_) << "(c) terminal phase changed";
    if (over) over_as_ = phase;
    ASSERT_EQ(pod_.status().get("podIP").as_string(), "127.1.0.7") << "(g)";
    for (const ContainerView& container : view.containers) {
      const json::Value status = pod_.container_status(container.name);
      const auto count = status.get("restartCount").as_int();
      ASSERT_GE(count, counts_[container.name]) << "(e) restartCount of " << container.name;
      counts_[container.name] = count;
      const json::Value state = status.get("state");
      const bool must_be_zero = phase == "Succeeded" && container.role == Role::kMain;
      ASSERT_TRUE(!must_be_zero || state.get({"terminated", "exitCode"}).as_int() == 0) << "(j)";
      ASSERT_EQ(state.size(), 1u) << "exactly one state";
    }
    if (over)
      for (const ContainerView& container : view.containers) done_.insert(container.name);
  }

  // When everything that is asked to end does end, the pod is over soon after its deletion.
  void finish() {
    if (::testing::Test::HasFatalFailure()) return;
    is_deleted();
    for (int i = 0; i < 40 && pod_.memory.stage != Stage::kTerminated; ++i) {
      end_hook();
      execute_one();
      while (pick([](const Process& process) { return process.killed; })) end_one();
      pod_.now += seconds(5);
      look();
    }
    ASSERT_EQ(pod_.memory.stage, Stage::kTerminated);
    ASSERT_TRUE(live_.empty());
    ASSERT_THAT(pod_.phase(), ::testing::AnyOf("Succeeded", "Failed"));
  }

  Rng rng_;
  bool barrier_;
  Story pod_;
  std::map<std::string, Process> live_;
  std::map<std::string, std::int64_t> counts_;
  std::set<std::string> done_;
  std::vector<std::string> pre_stops_;
  std::string over_as_;
  bool deleted_ = false;
};

TEST(RandomPods, NeverDoWhatMustNeverHappen) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    World(seed).live();
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
  }
}

}  // namespace random_test
}  // namespace muster::agent
