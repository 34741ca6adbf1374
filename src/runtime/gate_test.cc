#include "runtime/gate.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace muster::runtime {
namespace gate_test {

class GateTest : public testing::Test {
 protected:
  GateTest() {
    char name[] = "/tmp/muster-gate-XXXXXX";
    directory_ = mkdtemp(name);
    gate_ = directory_ + "/gate";
  }
  ~GateTest() override { std::filesystem::remove_all(directory_); }
  std::string directory_;
  std::string gate_;
};

TEST_F(GateTest, OpeningLetsEveryoneThrough) {
  ASSERT_TRUE(make_gate(gate_));
  EXPECT_FALSE(gate_is_open(gate_));
  std::atomic<int> through = 0;
  std::vector<std::jthread> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.emplace_back([&] {
      EXPECT_EQ(wait_at_gate(gate_.c_str()), 0);
      EXPECT_TRUE(gate_is_open(gate_));
      ++through;
    });
  }
  ASSERT_TRUE(open_gate(gate_));
  waiting.clear();
  EXPECT_EQ(through, 8);
}

TEST_F(GateTest, OpenGateStaysOpenAlsoWhenItIsMadeAgain) {
  ASSERT_TRUE(make_gate(gate_));
  ASSERT_TRUE(open_gate(gate_));
  ASSERT_TRUE(make_gate(gate_));
  EXPECT_TRUE(gate_is_open(gate_));
  EXPECT_EQ(wait_at_gate(gate_.c_str()), 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_F(GateTest, OtherFilesAreNoGates) {
  EXPECT_EQ(wait_at_gate(gate_.c_str()), -1);
  std::ofstream(gate_) << "not a gate";
  EXPECT_EQ(wait_at_gate(gate_.c_str()), -1);
  EXPECT_FALSE(open_gate(gate_));
  EXPECT_FALSE(gate_is_open(gate_));
  std::ofstream(gate_) << "12345678";  // as long as one
  EXPECT_FALSE(open_gate(gate_));
  EXPECT_FALSE(make_gate(directory_ + "/no/gate"));
}

}  // namespace gate_test
}  // namespace muster::runtime
