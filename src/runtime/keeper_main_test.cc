// main() of this test binary, which is also the keeper that its tests start.
#include "runtime/keeper_main.h"

#include <gtest/gtest.h>

#include <string_view>

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "keeper") {
    return muster::runtime::keeper_main(argc - 1, argv + 1);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
