#include "controllers/runtime/lru.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::controllers {
namespace lru_test {

TEST(Lru, TheOneThatWasNotUsedForTheLongestTimeGoes) {
  Lru<std::string, int> lru(2);
  lru.at("a") = 1;
  lru.at("b") = 2;
  EXPECT_NE(lru.find("a"), nullptr);
  lru.at("c") = 3;
  EXPECT_EQ(lru.find("b"), nullptr);
  EXPECT_EQ(*lru.find("a"), 1);
  EXPECT_EQ(lru.size(), 2u);
}

TEST(Lru, WhatIsThereStaysAsItIs) {
  Lru<std::string, int> lru(2);
  lru.at("a", 7);
  EXPECT_EQ(lru.at("a", 8), 7);
  lru.erase("a");
  EXPECT_EQ(lru.at("a", 8), 8);
}

}  // namespace lru_test
}  // namespace muster::controllers
