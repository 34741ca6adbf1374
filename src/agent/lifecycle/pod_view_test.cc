#include "agent/lifecycle/pod_view.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::agent {
namespace pod_view_test {

std::string hostname(std::string_view pod_name, std::string_view spec_hostname) {
  json::Arena arena;
  return read_pod_view(*json::parse(arena, fmt::format(R"({{"metadata":{{"name":"{}"}},)"
                                                       R"("spec":{{"hostname":"{}"}}}})",
                                                       pod_name, spec_hostname)))
      .hostname;
}

TEST(PodView, HostnameIsTheOneOfTheSpecCutToALabel) {
  EXPECT_EQ(hostname("pod-x7k2p", "w-0"), "w-0");
  EXPECT_EQ(hostname("pod-x7k2p", ""), "pod-x7k2p");
  EXPECT_EQ(hostname(std::string(70, 'a'), ""), std::string(63, 'a'));
  EXPECT_EQ(hostname(fmt::format("{:a>61}-.b", ""), ""), std::string(61, 'a'));
}

}  // namespace pod_view_test
}  // namespace muster::agent
