// GPUs are seen by the pods that ask for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing.h"

namespace muster::agent {
namespace gpu_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GpuTest : public ::testing::Test {
 protected:
  GpuTest() {
    node_.options.facts.gpus = {"0", "1"};
    node_.options.facts.gpu_majors = {195, 511};
    node_.options.environment = {"CUDA_VISIBLE_DEVICES=0,1"};  // as the server has them
  }

  // The variables of the pod's container that name GPUs.
  std::vector<std::string> seen_by(std::string_view pod) {
    std::vector<std::string> seen;
    for (const std::string& variable : node_.machine.find(node_.run(pod, "a"))->spec.environment)
      if (variable.find("_VISIBLE_DEVICES=") != variable.npos) seen.push_back(variable);
    return seen;
  }
  std::vector<int> denied_to(std::string_view pod) {
    return node_.machine.pods().at(node_.uid(pod)).spec.denied_devices;
  }

  static constexpr std::string_view kNone = R"({"containers":[{"name":"a"}]})";
  static constexpr std::string_view kOne =
      R"({"containers":[{"name":"a","resources":{"limits":{"nvidia.com/gpu":"1"}}}]})";
  testing::TestNode node_;
};

TEST_F(GpuTest, APodThatAsksForNoneSeesNone) {
  node_.start_agent();
  node_.make_pod("p", kNone);
  EXPECT_THAT(seen_by("p"), ElementsAre("CUDA_VISIBLE_DEVICES=", "NVIDIA_VISIBLE_DEVICES="));
  EXPECT_THAT(denied_to("p"), ElementsAre(195, 511));
}

TEST_F(GpuTest, APodThatAsksForOneSeesThatOne) {
  node_.start_agent();
  node_.make_pod("p", kOne);
  EXPECT_THAT(seen_by("p"), ElementsAre("CUDA_VISIBLE_DEVICES=0", "NVIDIA_VISIBLE_DEVICES=0"));
  EXPECT_THAT(denied_to("p"), IsEmpty());
}

TEST_F(GpuTest, WhatThePodSetsItselfStays) {
  node_.start_agent();
  node_.make_pod("p", R"({"containers":[{"name":"a","env":[
      {"name":"CUDA_VISIBLE_DEVICES","value":"1"}]}]})");
  EXPECT_THAT(seen_by("p"), ElementsAre("NVIDIA_VISIBLE_DEVICES=", "CUDA_VISIBLE_DEVICES=1"));
}

TEST_F(GpuTest, OnANodeThatHidesNothingAllAreSeen) {
  node_.options.hide_gpus = false;
  node_.start_agent();
  node_.make_pod("p", kNone);
  EXPECT_THAT(seen_by("p"), ElementsAre("CUDA_VISIBLE_DEVICES=0,1")) << "as the server has it";
  EXPECT_THAT(denied_to("p"), IsEmpty());
}

// --node-resource nvidia.com/gpu=2 on a machine whose GPUs are not found.
TEST_F(GpuTest, OnesThatCannotBeToldApartAreNotHiddenFromWhoAsksForThem) {
  node_.options.facts.gpus = {};
  node_.options.nodes.extra_resources["nvidia.com/gpu"] = 2;
  node_.start_agent();
  node_.make_pod("p", kOne);
  EXPECT_THAT(seen_by("p"), ElementsAre("CUDA_VISIBLE_DEVICES=0,1"));
  EXPECT_THAT(denied_to("p"), IsEmpty());
}

}  // namespace gpu_test
}  // namespace muster::agent
