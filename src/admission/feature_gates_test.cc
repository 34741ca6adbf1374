#include "admission/feature_gates.h"

#include <gtest/gtest.h>

namespace muster::admission {
namespace feature_gates_test {

TEST(FeatureGates, StartWithUpstreamsDefaults) {
  const FeatureGates gates;
  EXPECT_FALSE(gates.enabled("InPlaceRestart"));
  EXPECT_FALSE(gates.enabled("RestartJob"));
  EXPECT_FALSE(gates.enabled("ElasticJobSet"));
  EXPECT_TRUE(gates.enabled("TLSOptions"));
  EXPECT_TRUE(gates.enabled("PartialAdmission"));
}

TEST(FeatureGates, AreSetByAList) {
  FeatureGates gates;
  ASSERT_TRUE(gates.set("RestartJob=true, ElasticJobSet=true,PartialAdmission=false"));
  EXPECT_TRUE(gates.enabled("RestartJob"));
  EXPECT_TRUE(gates.enabled("ElasticJobSet"));
  EXPECT_FALSE(gates.enabled("PartialAdmission"));
  EXPECT_TRUE(gates.set(""));
}

struct BadList {
  const char* list;
  const char* message;
};

class BadLists : public testing::TestWithParam<BadList> {};

TEST_P(BadLists, AreRefusedWholeAndSayWhy) {
  FeatureGates gates;
  const Status status = gates.set(GetParam().list);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, GetParam().message);
  EXPECT_FALSE(gates.enabled("RestartJob"));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadLists,
    testing::Values(
        BadList{"RestartJob=true,Foo=true", "unrecognized feature gate: Foo"},
        BadList{"RestartJob=true,ElasticJobSet", "missing bool value for ElasticJobSet"},
        BadList{"RestartJob=yes", "invalid value of RestartJob=yes: must be true or false"},
        BadList{"RestartJob=true,TLSOptions=false",
                "cannot set feature gate TLSOptions to false, feature is locked to true"}));

}  // namespace feature_gates_test
}  // namespace muster::admission
