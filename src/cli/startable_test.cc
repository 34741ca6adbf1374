#include "cli/startable.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/write.h"

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

TEST(Startable, ACommandIsAListOfWords) {
  json::Arena arena;
  const auto said = [&](std::string_view command) {
    const auto set = json::parse(arena, fmt::format(R"({{"spec":{{"replicatedJobs":[{{"name":"w",
      "template":{{"spec":{{"template":{{"spec":{{"containers":[{{"command":{}}}]}}}}}}}}}}]}}}})",
                                                    command));
    const Status checked = check_commands(*set);
    if (checked) return std::string();
    const Cause& cause = checked.error().causes.front();
    return cause.field.substr(cause.field.rfind('.') + 1) + ": " + cause.message;
  };
  EXPECT_EQ(said(R"(["echo","hi"])"), "");
  EXPECT_EQ(said(R"("echo  hi")"), "command: must be a list of words: [echo, hi]");
  EXPECT_EQ(said(R"("echo $HOME; true")"),
            "command: must be a list of words: [sh, -c, 'echo $HOME; true']");
  EXPECT_EQ(said("7"), "command: must be a list of words");
}

TEST(Startable, ImagesAreAddedWhereNoneIsNamed) {
  json::Arena arena;
  const auto set = json::parse(arena, R"({"spec":{"replicatedJobs":[{"name":"w",
      "template":{"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"b","image":"x"}],
      "initContainers":[{"name":"c","image":""}]}}}}}]}})");
  EXPECT_TRUE(add_images(*set));
  const std::string text = json::write(*set);
  EXPECT_THAT(text, testing::HasSubstr(R"({"name":"a","image":"none"},{"name":"b","image":"x"})"));
  EXPECT_THAT(text, testing::HasSubstr(R"({"name":"c","image":"none"})"));
  EXPECT_FALSE(add_images(*set));
}

}  // namespace
}  // namespace muster::cli
