#include "cli/startable.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::cli {
namespace {

std::string faults(std::string_view pod_spec) {
  json::Arena arena;
  const auto set = json::parse(arena, fmt::format(R"({{"spec":{{"replicatedJobs":[{{"name":"w",
      "template":{{"spec":{{"template":{{"spec":{}}}}}}}}}]}}}})",
                                                  pod_spec));
  const Status checked = check_commands(*set);
  std::string out;
  if (checked) return out;
  for (const Cause& cause : checked.error().causes)
    out += cause.field.substr(cause.field.rfind('.') + 1) + ";";
  return out;
}

TEST(Startable, EveryContainerNeedsACommand) {
  EXPECT_EQ(faults(R"({"containers":[{"name":"a","command":["true"]}]})"), "");
  EXPECT_EQ(faults(R"({"containers":[{"name":"a","args":["true"]}]})"), "")
      << "words are words, whatever they are called";
  EXPECT_EQ(faults(R"({"containers":[{"name":"a","command":["true"]},{"name":"b","image":"x"}],
                       "initContainers":[{"name":"i","command":[]}]})"),
            "initContainers[0];containers[1];");
  EXPECT_EQ(faults("{}"), "") << "the server says what is wrong with it";
}

}  // namespace
}  // namespace muster::cli
