#include "runtime/fair_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::runtime {
namespace fair_start_test {

using testing::ElementsAre;
using testing::IsEmpty;

// Does nothing before the test says so.
struct Patient final : Runtime {
  void on_change(std::function<void(const RunState&)> told) override { changed = std::move(told); }
  void start_pod(const PodSpec& pod, Done done) override {
    asked.push_back(pod.uid);
    answers[pod.uid] = std::move(done);
  }
  void start(const std::string& uid, const RunSpec& run, Done done) override {
    asked.push_back(uid + "/" + run.container);
    answers[asked.back()] = std::move(done);
  }
  void signal(const RunId&, int) override {}
  void kill(const RunId& run) override { asked.push_back("kill " + run.pod_uid); }
  void remove_pod(const std::string& uid, Done) override { asked.push_back("remove " + uid); }
  std::unique_ptr<Exec> exec(const ExecSpec&, ExecEvents) override { return nullptr; }
  void adopt(std::function<void(std::vector<Adopted>)>) override {}
  const std::vector<Ability>& abilities() const override { return none; }

  std::vector<std::string> asked;
  std::map<std::string, Done> answers;
  std::function<void(const RunState&)> changed;
  std::vector<Ability> none;
};

class FairStartTest : public testing::Test {
 protected:
  FairStartTest() {
    auto patient = std::make_unique<Patient>();
    machine_ = patient.get();
    turns_ = std::make_unique<FairStart>(*loop_, std::move(patient), 2);
    turns_->on_change([this](const RunState& state) { told_.push_back(state.id.pod_uid); });
  }
  void start_pod(const std::string& uid, const std::string& group = "") {
    turns_->start_pod({.uid = uid, .name = uid, .group = group}, [this, uid](const Status& made) {
      done_.push_back(uid + (made ? "" : " failed"));
    });
  }
  void start(const std::string& uid) {
    turns_->start(uid, {.container = "main"}, [](const Status&) {});
  }
  void tell(const std::string& uid, RunPhase phase) {
    machine_->changed({.id = {uid, "main", 0}, .container_id = {}, .phase = phase});
  }
  std::vector<std::string> asked() { return std::exchange(machine_->asked, {}); }

  std::unique_ptr<VirtualLoop> loop_ = make_virtual_loop(Time{});
  Patient* machine_ = nullptr;
  std::unique_ptr<FairStart> turns_;
  std::vector<std::string> done_, told_;
};

TEST_F(FairStartTest, NewPodsWaitWhileEnoughAreBeingStarted) {
  for (const char* uid : {"a", "b", "c", "d"}) start_pod(uid);
  EXPECT_THAT(asked(), ElementsAre("a", "b"));
  machine_->answers["b"]({});
  EXPECT_THAT(asked(), ElementsAre("c"));
  machine_->answers["a"](fail(Code::kInternal, "no"));
  EXPECT_THAT(asked(), ElementsAre("d"));
  EXPECT_THAT(done_, ElementsAre("b", "a failed"));
}

TEST_F(FairStartTest, PodsThatHaveBegunDoNotWait) {
  start_pod("a");
  machine_->answers["a"]({});
  start("a");
  start("b");
  start("c");
  EXPECT_THAT(asked(), ElementsAre("a", "a/main", "b/main", "c/main"));
  start_pod("d");
  EXPECT_THAT(asked(), IsEmpty());
  machine_->answers["a/main"]({});  // on its way is not there
  tell("a", RunPhase::kRunning);
  EXPECT_THAT(asked(), IsEmpty());
  tell("b", RunPhase::kHeld);
  EXPECT_THAT(asked(), ElementsAre("d"));
  EXPECT_THAT(told_, ElementsAre("a", "b"));
}

TEST_F(FairStartTest, WhatCannotBeStartedHasHadItsTurn) {
  start("a");
  start("b");
  start_pod("c");
  machine_->answers["a/main"](fail(Code::kInternal, "no"));
  EXPECT_THAT(asked(), ElementsAre("a/main", "b/main", "c"));
}

TEST_F(FairStartTest, APodThatIsRemovedWhileItWaitsNeverComes) {
  for (const char* uid : {"a", "b", "c", "d"}) start_pod(uid);
  turns_->remove_pod("c", [](const Status&) {});
  machine_->answers["a"]({});
  EXPECT_THAT(asked(), ElementsAre("a", "b", "remove c", "d"));
  EXPECT_THAT(done_, ElementsAre("c failed", "a"));
}

TEST_F(FairStartTest, GroupsOfPodsTakeTurns) {
  for (const char* uid : {"a", "b", "c", "d", "e"}) start_pod(uid, "large");
  start_pod("x", "small");
  start_pod("y", "small");
  EXPECT_THAT(asked(), ElementsAre("a", "b"));
  for (const char* uid : {"a", "b", "x", "c", "y"}) machine_->answers[uid]({});
  EXPECT_THAT(asked(), ElementsAre("x", "c", "y", "d", "e"));
}

TEST_F(FairStartTest, APodThatIsRemovedLeavesTheTurnsOfItsGroupAlone) {
  start_pod("a", "large");
  start_pod("b", "large");
  start_pod("c", "large");
  start_pod("x", "small");
  turns_->remove_pod("x", [](const Status&) {});  // the last of its group
  turns_->remove_pod("x", [](const Status&) {});
  machine_->answers["a"]({});
  EXPECT_THAT(asked(), ElementsAre("a", "b", "remove x", "remove x", "c"));
  EXPECT_THAT(done_, ElementsAre("x failed", "a"));
}

TEST_F(FairStartTest, WhatHangsKeepsNobodyForLong) {
  start("a");
  start("b");
  start_pod("c");
  EXPECT_THAT(asked(), ElementsAre("a/main", "b/main"));
  loop_->run();
  EXPECT_THAT(asked(), ElementsAre("c"));
  turns_->kill({"a", "main", 0});
  tell("a", RunPhase::kExited);
  EXPECT_THAT(asked(), ElementsAre("kill a"));
  EXPECT_THAT(told_, ElementsAre("a"));
}

}  // namespace fair_start_test
}  // namespace muster::runtime
