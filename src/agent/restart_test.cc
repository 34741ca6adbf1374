// Agents that die at any moment: nothing is started twice, no end is lost, nothing is left (R12).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing.h"
#include "base/rng.h"

namespace muster::agent {
namespace restart_test {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

class DyingAgents {
 public:
  explicit DyingAgents(std::uint64_t seed) : rng_(seed) {
    node_.machine.set_programs([this](const runtime::RunSpec&) {
      runtime::FakeProgram program;
      if (rng_.chance(0.8)) program.lasts = milliseconds(rng_.below(2000));
      program.exit.code = rng_.chance(0.5) ? 0 : 1;
      program.ends_on_sigterm = rng_.chance(0.8);
      return program;
    });
  }

  void live() {
    node_.start_agent();
    for (int i = 0; i < 60; ++i) {
      happen();
      // Between any two things that the agent does.
      node_.loop->run_for(rng_.chance(0.5) ? Duration(microseconds(rng_.below(3)))
                                           : Duration(milliseconds(rng_.below(400))));
      check();
      if (::testing::Test::HasFatalFailure()) return;
    }
    finish();
  }

 private:
  void happen() {
    switch (rng_.below(5)) {
      case 0:
        return make_pod();
      case 1:
        return node_.stop_agent();
      case 2:
      case 3:
        return node_.agent ? void() : node_.start_agent();
      default:
        if (rng_.chance(0.3) && pods_ > 0)
          node_.delete_pod(fmt::format("p{}", rng_.below(static_cast<std::uint64_t>(pods_))),
                           static_cast<int>(rng_.below(5)));
    }
  }

  void make_pod() {
    constexpr std::array kPolicies = {"Never", "OnFailure", "Always"};
    const std::string policy = kPolicies[rng_.below(3)];
    node_.make_pod(
        fmt::format("p{}", pods_),
        fmt::format(R"({{"restartPolicy":"{}",{}"containers":[{{"name":"a"}},{{"name":"b"}}]}})",
                    policy, rng_.chance(0.4) ? R"("initContainers":[{"name":"i"}],)" : ""));
    policies_[node_.uid(fmt::format("p{}", pods_))] = policy;
    ++pods_;
  }

  void check() {
    for (const auto& [uid, pod] : node_.machine.pods()) {
      std::map<std::string, int> alive, all;
      for (const auto& [id, run] : pod.runs) {
        alive[id.container] += run.state.phase != runtime::RunPhase::kExited;
        ++all[id.container];
      }
      for (const auto& [container, count] : alive) ASSERT_LE(count, 1) << "two runs at once";
      for (const auto& [container, count] : all)
        ASSERT_TRUE(count <= 1 || policies_[uid] != "Never") << "run again: " << container;
    }
    for (int i = 0; i < pods_; ++i) {
      const std::string name = fmt::format("p{}", i), phase = node_.phase(name);
      if (phase != "Succeeded" && phase != "Failed") continue;
      const auto pod = node_.machine.pods().find(node_.uid(name));
      if (pod == node_.machine.pods().end()) continue;
      for (const auto& [id, run] : pod->second.runs)
        ASSERT_EQ(run.state.phase, runtime::RunPhase::kExited) << phase << " while it runs";
    }
  }

  void finish() {
    if (!node_.agent) node_.start_agent();
    node_.pass(seconds(5));
    for (int i = 0; i < pods_; ++i) node_.delete_pod(fmt::format("p{}", i), 2);
    node_.pass(seconds(30));
    ASSERT_TRUE(node_.machine.pods().empty()) << "something is left";
    for (int i = 0; i < pods_; ++i) ASSERT_TRUE(node_.pod(fmt::format("p{}", i)).is_null());
    ASSERT_TRUE(node_.names.addresses.empty());
  }

  testing::TestNode node_;
  Rng rng_;
  int pods_ = 0;
  std::map<std::string, std::string> policies_;  // by uid
};

TEST(DyingAgentsTest, NeverStartTwiceAndLeaveNothing) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    DyingAgents(seed).live();
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
  }
}

}  // namespace restart_test
}  // namespace muster::agent
