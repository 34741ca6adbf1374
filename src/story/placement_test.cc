#include "story/placement.h"

#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::story {
namespace placement_test {

constexpr std::string_view kPreemption =
    " no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not "
    "helpful for scheduling.";

std::string told(std::string_view requests, std::string_view message, std::string_view nodes,
                 bool is_here = true) {
  json::Arena arena;
  const auto pod = json::parse(
      arena, fmt::format(R"({{"spec":{{"initContainers":[{{"name":"i","resources":{{"requests":
             {{"cpu":"500m"}}}}}}],"containers":[{{"name":"a","resources":{{"requests":{0}}}}},
             {{"name":"b","resources":{{"requests":{0}}}}}]}}}})",
                         requests));
  Room room = room_on(*json::parse(arena, nodes));
  room.is_here = is_here;
  return shortage(lacking(*pod, message), room);
}

constexpr std::string_view kOne =
    R"({"items":[{"status":{"allocatable":{"cpu":"2","memory":"16252928Ki"}}}]})";
constexpr std::string_view kTwo = R"({"items":[{"status":{"allocatable":{"cpu":"2"}}},
    {"status":{"allocatable":{"cpu":"1500m","nvidia.com/gpu":"4"}}}]})";

TEST(Placement, SaysWhatIsAskedForAndWhatThereIs) {
  const std::string no_cpu =
      "0/1 nodes are available: 1 Insufficient cpu." + std::string(kPreemption);
  EXPECT_EQ(told(R"({"cpu":"50"})", no_cpu, kOne), "asks for 100 cpu; this machine has 2");
  EXPECT_EQ(told(R"({"cpu":"50"})", no_cpu, kOne, false), "asks for 100 cpu; the node has 2");
  EXPECT_EQ(told(R"({"cpu":"50"})", no_cpu, kTwo),
            "asks for 100 cpu; the largest of 2 nodes has 2");
  EXPECT_EQ(told(R"({"cpu":"750m"})", no_cpu, kOne),
            "asks for 1500m cpu; this machine has 2, which others use");
  EXPECT_EQ(told(R"({"cpu":"50"})", no_cpu, "{}"), "asks for 100 cpu, more than there is");
}

TEST(Placement, KnowsBytesAndDevices) {
  EXPECT_EQ(
      told(R"({"memory":"512Gi","nvidia.com/gpu":"4"})",
           "0/1 nodes are available: 1 Insufficient memory, 1 Insufficient nvidia.com/gpu.", kOne),
      "asks for 1024Gi memory; this machine has 15.5Gi, asks for 8 nvidia.com/gpu; this "
      "machine has none");
}

TEST(Placement, OtherReasonsStayInTheirWords) {
  const std::string message =
      "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s).";
  json::Arena arena;
  EXPECT_TRUE(lacking(*json::parse(arena, "{}"), message).empty());
  EXPECT_EQ(without_preemption(message + std::string(kPreemption)), message);
}

}  // namespace placement_test
}  // namespace muster::story
