// The status of a pod with very many containers. The list grows fourfold; a search of all for each
// takes sixteen times the comparisons then.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/lifecycle/status.h"
#include "base/comparisons_testing.h"
#include "json/testing.h"

namespace muster::agent {
namespace list_steps_test {

std::string many_containers(int length) {
  std::string text;
  for (int i = 0; i < length; ++i)  // names of one length, so that all are compared
    text += fmt::format(R"({}{{"name":"n{:06}"}})", i == 0 ? "" : ",", i);
  return text;
}

std::size_t steps_of_status(int length) {
  const json::Tree pod(fmt::format(
      R"({{"metadata":{{"name":"p"}},"spec":{{"initContainers":[{}],"containers":[{{"name":"m"}}]}}}})",
      many_containers(length)));
  const PodView view = read_pod_view(pod);
  const PodMemory memory = fresh_memory(view);
  json::Arena arena;
  comparisons = 0;
  const json::Value status = write_status(arena, view, memory, pod, Time{});
  EXPECT_EQ(status.get("initContainerStatuses").size(), static_cast<std::size_t>(length));
  return comparisons;
}

TEST(LongLists, TheStatusOfManyContainersTakesNoSearchForEach) {
  const std::size_t few = steps_of_status(1'000), many_steps = steps_of_status(4'000);
  EXPECT_LT(many_steps, 6 * few + 1'000) << few;
}

}  // namespace list_steps_test
}  // namespace muster::agent
