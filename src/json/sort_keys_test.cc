#include "json/sort_keys.h"

#include <gtest/gtest.h>

#include "json/testing.h"

namespace muster::json {
namespace sort_keys_test {

TEST(SortAllKeys, ReachesEveryObject) {
  const Tree tree(R"({"b":[{"d":1,"c":{"z":0,"y":0}},[{"f":1,"e":2}]],"a":null,"B":1})");
  sort_all_keys(tree);
  EXPECT_EQ(write(tree.root),
            R"({"B":1,"a":null,"b":[{"c":{"y":0,"z":0},"d":1},[{"e":2,"f":1}]]})");
}

TEST(SortAllKeys, LeavesScalarsAlone) {
  const Tree tree("1");
  sort_all_keys(tree);
  EXPECT_EQ(write(tree.root), "1");
}

}  // namespace sort_keys_test
}  // namespace muster::json
