// Mounts of a pod with very many volumes. The list grows fourfold; a search of all for each takes
// sixteen times the comparisons then.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "agent/inputs/files_testing.h"
#include "agent/inputs/testing.h"
#include "agent/inputs/volumes.h"
#include "base/comparisons_testing.h"

namespace muster::agent {
namespace list_steps_test {

std::string many_named(int length, std::string_view rest) {
  std::string text;
  for (int i = 0; i < length; ++i)  // names of one length, so that all are compared
    text += fmt::format(R"({}{{"name":"n{:06}",{}}})", i == 0 ? "" : ",", i, rest);
  return text;
}

std::size_t steps_of_mounts(int length) {
  const json::Tree pod(fmt::format(
      R"({{"metadata":{{"name":"p","namespace":"d","uid":"u"}},"spec":{{"volumes":[{}]}}}})",
      many_named(length, R"("emptyDir":{})")));
  const json::Tree container(fmt::format(R"({{"name":"c","volumeMounts":[{}]}})",
                                         many_named(length, R"("mountPath":"/m")")));
  const Scratch scratch;
  VolumeRoot root;
  root.pod_directory = scratch / "pod";
  std::filesystem::create_directories(scratch / "pod/volumes");
  const FakeObjects objects;
  comparisons = 0;
  const auto mounts = mounts_of(root, pod, container, {}, objects);
  EXPECT_TRUE(mounts) << mounts.error().message;
  EXPECT_EQ(mounts->size(), static_cast<std::size_t>(length));
  return comparisons;
}

TEST(LongLists, EachOfManyMountsFindsItsVolumeWithoutASearch) {
  const std::size_t few = steps_of_mounts(1'000), many_steps = steps_of_mounts(4'000);
  EXPECT_LT(many_steps, 6 * few + 1'000) << few;
}

}  // namespace list_steps_test
}  // namespace muster::agent
