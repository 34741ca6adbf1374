// Whatever comes and goes: no node ever holds more than it has, nobody meets whom it avoids, and
// the same history gives the same places.
#include <gtest/gtest.h>

#include <deque>

#include "base/rng.h"
#include "scheduler/place.h"
#include "scheduler/testing.h"

namespace muster::scheduler {
namespace place_property_test {

constexpr int kNodes = 12;
constexpr int kSteps = 1'500;

class History {
 public:
  explicit History(std::uint64_t seed) : rng_(seed) {
    for (int i = 0; i < kNodes; ++i) cluster_.put_node(random_node(i));
  }

  // Where each pod went, one after the other.
  std::string play() {
    for (int step = 0; step < kSteps; ++step) {
      if (!running_.empty() && rng_.below(3) == 0) {
        stop(static_cast<std::size_t>(rng_.below(running_.size())));
      } else if (rng_.below(40) == 0) {
        cluster_.put_node(random_node(static_cast<int>(rng_.below(kNodes))));
      } else {
        start(step);
      }
    }
    return log_;
  }

 private:
  struct Guest {
    const Pod* pod;
    std::string node;
  };

  Node random_node(int i) {
    return testing::node(
        fmt::format("n{:02}", i),
        fmt::format(R"({{"labels":{{"rack":"r{}","kubernetes.io/hostname":"n{}"}},"allocatable":
                        {{"cpu":"{}","memory":"{}Gi","pods":"{}","nvidia.com/gpu":"{}"}}}})",
                    rng_.below(4), i, 2 + rng_.below(7), 4 + rng_.below(13), 3 + rng_.below(6),
                    rng_.below(5)));
  }

  Pod random_pod(int step) {
    const bool shy = rng_.below(8) == 0;
    return testing::pod(fmt::format(
        R"({{"name":"p{}","labels":{{"app":"x{}"}},"containers":[{{"ports":[{}],"resources":{{
           "requests":{{"cpu":"{}m","memory":"{}Mi","nvidia.com/gpu":"{}"}}}}}}]{}}})",
        step, rng_.below(5), rng_.below(6) == 0 ? R"({"hostPort":80})" : "", rng_.below(30) * 100,
        rng_.below(40) * 100, rng_.below(4) == 0 ? 1 : 0,
        shy ? R"(,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
                 {"topologyKey":"rack","labelSelector":{"matchLabels":{"app":"x1"}}}]}})"
            : ""));
  }

  void start(int step) {
    pods_.push_back(random_pod(step));
    const Pod& pod = pods_.back();
    cluster_.use_topologies(pod.wishes);
    const Placement placement = place(cluster_, pod);
    // A look at the one node, or at all, must say the same.
    EXPECT_EQ(place_among(cluster_, pod, cluster_.nodes()), placement.node);
    cluster_.drop_topologies(pod.wishes);
    EXPECT_NE(placement.node.empty(), placement.refusal.empty());
    log_ += placement.node + ";" + placement.refusal + "\n";
    if (placement.node.empty()) return;
    check_room(*cluster_.find(placement.node), pod);
    check_rack(placement.node, pod);
    cluster_.add_pod(pod, placement.node);
    running_.push_back({&pod, placement.node});
  }

  void stop(std::size_t i) {
    cluster_.remove_pod(*running_[i].pod, running_[i].node);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  // Counted by hand from the pods that are there.
  void check_room(const Room& room, const Pod& pod) {
    Resources sum = pod.wishes.demand.requests;
    for (const Guest& guest : running_)
      if (guest.node == room.node.name) sum += guest.pod->wishes.demand.requests;
    const Resources& all = room.node.allocatable;
    const Resources& asked = pod.wishes.demand.requests;
    EXPECT_LE(sum.pods, all.pods);
    EXPECT_TRUE(asked.milli_cpu == 0 || sum.milli_cpu <= all.milli_cpu);
    EXPECT_TRUE(asked.memory == 0 || sum.memory <= all.memory);
    EXPECT_TRUE(asked.other("nvidia.com/gpu") == 0 ||
                sum.other("nvidia.com/gpu") <= all.other("nvidia.com/gpu"));
  }

  // Nobody in the rack that it avoids, or that avoids it; ports are its own.
  void check_rack(const std::string& node, const Pod& pod) {
    const auto rack = [this](const std::string& name) {
      return find_label(cluster_.find(name)->node.labels, "rack");
    };
    const auto avoids = [](const Pod& shy, const Pod& other) {
      return !shy.wishes.apart.empty() && find_label(other.labels, "app") == "x1";
    };
    for (const Guest& guest : running_) {
      if (rack(guest.node) == rack(node)) {
        EXPECT_FALSE(avoids(pod, *guest.pod) || avoids(*guest.pod, pod));
      }
      if (guest.node == node) {
        EXPECT_TRUE(pod.wishes.ports.empty() || guest.pod->wishes.ports.empty());
      }
    }
  }

  Rng rng_;
  Cluster cluster_;
  std::deque<Pod> pods_;
  std::vector<Guest> running_;
  std::string log_;
};

TEST(PlaceProperty, NoRuleIsBrokenAndTheSameHistoryGivesTheSamePlaces) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    const std::string first = History(seed).play();
    EXPECT_EQ(first, History(seed).play()) << "seed " << seed;
    for (const char* refusal :
         {"Insufficient", "free ports", "match pod anti-affinity", "existing pods anti-affinity"})
      EXPECT_NE(first.find(refusal), std::string::npos) << "seed " << seed << ": " << refusal;
  }
}

}  // namespace place_property_test
}  // namespace muster::scheduler
