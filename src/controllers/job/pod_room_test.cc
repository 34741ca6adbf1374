#include "controllers/job/pod_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/views/job_set_names.h"
#include "controllers/job/testing.h"
#include "controllers/job/world_testing.h"

namespace muster::controllers::job {
namespace pod_room_test {

using client::QueueKey;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using testing::World;

// Jobs and pods of the namespace "d".
class PodRoomTest : public ::testing::Test {
 protected:
  static Job job(const std::string& name, const std::string& set = "") {
    Job job;
    job.ref = {.ns = "d", .name = name};
    job.pods_set = set;
    return job;
  }
  static Pod pod(const Job& job, bool assigned = false) {
    Pod pod;
    pod.ref.ns = "d";
    pod.owner_name = job.ref.name;
    pod.owned_by_job = true;
    pod.assigned = assigned;
    if (!job.pods_set.empty()) pod.labels = {{std::string(api::label::kJobSetName), job.pods_set}};
    return pod;
  }
  // So many pods of the Job come.
  void add(const Job& job, int pods) {
    for (const Pod each = pod(job); pods > 0; --pods) room_.pod_changed(nullptr, &each);
  }
  // One of them gets a node: the Job that may go on, or nothing.
  std::string assign(const Job& job) {
    const Pod before = pod(job), after = pod(job, true);
    return name(room_.pod_changed(&before, &after));
  }
  std::string plan(const Job& job, std::size_t births, bool held_back) {
    return name(room_.planned(job, births, held_back));
  }
  static std::string name(const std::optional<QueueKey>& key) { return key ? key->name : ""; }
  std::size_t room_for(const Job& job) const { return room_.limit_for(job).room; }

  PodRoom room_{{.waiting_of_set = 10, .waiting_of_all = 15, .waiting_in_any_case = 2}};
  const Job a_ = job("a", "s"), b_ = job("b", "s"), other_ = job("other");
};

TEST_F(PodRoomTest, JobsOfASetShareALimit) {
  add(a_, 4);
  add(other_, 1);
  EXPECT_EQ(room_for(a_), 6u);
  EXPECT_EQ(room_for(b_), 6u);
  EXPECT_EQ(room_for(other_), 9u);
  EXPECT_EQ(room_for(job("s")), 10u) << "a Job of that name is not the set";
  EXPECT_FALSE(room_.limit_for(a_).of_all);
}

TEST_F(PodRoomTest, AllShareAnother) {
  add(a_, 9);
  EXPECT_EQ(room_for(other_), 6u);
  EXPECT_TRUE(room_.limit_for(other_).of_all);
  EXPECT_EQ(room_.limit_for(other_).limit, 15u);
  add(job("more"), 9);
  EXPECT_EQ(room_for(other_), 2u) << "a few may come in any case";
  add(other_, 2);
  EXPECT_EQ(room_for(other_), 0u);
}

TEST_F(PodRoomTest, PodsWithANodeOrAnEndOrAnotherOwnerTakeNoRoom) {
  Pod ended = pod(a_), going = pod(a_), foreign = pod(a_);
  const Pod waiting = pod(a_), assigned = pod(a_, true);
  ended.phase = api::PodPhase::kFailed;
  going.deleting = true;
  foreign.owned_by_job = false;
  for (const Pod& each : {ended, going, foreign, assigned}) room_.pod_changed(nullptr, &each);
  EXPECT_EQ(room_for(a_), 10u);
  room_.pod_changed(nullptr, &waiting);
  room_.pod_changed(&waiting, &waiting);
  EXPECT_EQ(room_for(a_), 9u);
  room_.pod_changed(&waiting, &going);
  EXPECT_EQ(room_for(a_), 10u);
}

TEST_F(PodRoomTest, PodsThatAreBeingCreatedTakeRoomUntilTheJobIsLookedAtAgain) {
  plan(a_, 7, false);
  EXPECT_EQ(room_for(b_), 3u);
  plan(b_, 3, true);
  EXPECT_EQ(room_for(a_), 0u) << "two Jobs never take the same room";
  add(a_, 7);
  room_.look({"d", "a"});
  EXPECT_EQ(room_for(a_), 0u);
  room_.forget({"d", "b"});
  EXPECT_EQ(room_for(a_), 3u);
}

TEST_F(PodRoomTest, APodThatGetsANodeBringsOneJobBackAndJobsTakeTurns) {
  add(a_, 10);
  EXPECT_EQ(assign(a_), "") << "nobody is held back";
  add(a_, 1);
  plan(a_, 0, true);
  plan(b_, 0, true);
  EXPECT_EQ(assign(a_), "a");
  EXPECT_EQ(assign(a_), "b");
  EXPECT_EQ(assign(a_), "a");
}

TEST_F(PodRoomTest, AJobThatLeavesRoomBringsTheNextOneBack) {
  add(a_, 8);
  plan(b_, 0, true);
  room_.look({"d", "a"});
  EXPECT_EQ(plan(a_, 1, false), "b");
  room_.look({"d", "b"});
  EXPECT_EQ(plan(b_, 1, true), "");
  room_.look({"d", "a"});
  EXPECT_EQ(plan(a_, 2, false), "") << "it took the last room";
}

TEST_F(PodRoomTest, RoomOfOneSetBringsBackAnotherThatWaitsForIt) {
  add(a_, 9);
  add(other_, 6);
  plan(other_, 0, true);
  EXPECT_EQ(assign(a_), "other");
  room_.forget({"d", "other"});
  EXPECT_EQ(assign(a_), "") << "it is gone";
}

TEST(PodLimits, AJobOfManyPodsWaitsUntilSomeHaveANode) {
  World world({.waiting_of_set = 4, .waiting_of_all = 9, .waiting_in_any_case = 1});
  world.create_job(R"("parallelism":1000000,"completions":1000000)");
  EXPECT_THAT(world.active(), SizeIs(4));
  EXPECT_EQ(world.status(), "active=4 muster.dev/Waiting");
  EXPECT_THAT(world.events(), Contains(HasSubstr("at most 4 of a Job wait for one")));
  const std::size_t written = world.requests.size();
  world.pass(std::chrono::minutes(1));
  EXPECT_EQ(world.requests.size(), written) << "nothing is written while nothing changes";
  world.bind(world.active().front());
  EXPECT_THAT(world.active(), SizeIs(5));
  world.create_job(R"("parallelism":2)", "Never", "small");
  EXPECT_THAT(world.active(), SizeIs(7)) << "others do not wait for it";
}

TEST(PodLimits, WhatIsNotRefusedByTheServerIsNotExceededByJobsThatComeAtOnce) {
  World world({.waiting_of_set = 100, .waiting_of_all = 6, .waiting_in_any_case = 0});
  world.at_once([&] {
    for (const char* name : {"a", "b", "c"}) world.create_job(R"("parallelism":4)", "Never", name);
  });
  EXPECT_THAT(world.active(), SizeIs(6));
  for (int i = 0; i < 6; ++i) world.bind(world.active().at(static_cast<std::size_t>(i)));
  EXPECT_THAT(world.active(), SizeIs(12));
}

TEST(PodLimits, OrdinaryJobsKnowNothingOfThem) {
  World world;
  world.create_job(R"("parallelism":3)");
  EXPECT_EQ(world.status(), "active=3");
  EXPECT_THAT(world.events(), Not(Contains(HasSubstr("PodLimit"))));
}

}  // namespace pod_room_test
}  // namespace muster::controllers::job
