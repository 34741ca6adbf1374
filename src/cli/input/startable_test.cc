#include "cli/input/startable.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/write.h"

namespace muster::cli {
namespace startable_test {

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

TEST(Startable, WhatWouldNeverStartIsNotBegun) {
  json::Arena arena;
  const auto reasons = [&](std::string_view set) {
    const Status able = check_will_run(*json::parse(arena, set));
    std::string out;
    if (able) return out;
    for (const Cause& cause : able.error().causes)
      out += fmt::format("{}: {};", cause.field, cause.message);
    return out;
  };
  EXPECT_EQ(reasons(R"({"spec":{"replicatedJobs":[{"name":"a"},{"name":"b","replicas":0}]}})"), "");
  EXPECT_EQ(reasons(R"({"spec":{"managedBy":"jobset.sigs.k8s.io/jobset-controller",
                        "replicatedJobs":[{"name":"a"}]}})"),
            "");
  EXPECT_EQ(reasons("{}"), "spec.replicatedJobs: there is nothing to run;");
  EXPECT_EQ(reasons(R"({"spec":{"replicatedJobs":[{"name":"a","replicas":0}]}})"),
            "spec.replicatedJobs: there is nothing to run: all have 0 replicas;");
  EXPECT_EQ(reasons(R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"q"}},
                        "spec":{"managedBy":"x.io/y","replicatedJobs":[{"name":"a","template":{
                        "spec":{"parallelism":0}}}]}})"),
            "metadata.labels[kueue.x-k8s.io/queue-name]: it would wait in a queue, and no queue "
            "controller works here;spec.managedBy: x.io/y does not work here;"
            "spec.replicatedJobs[0].template.spec.parallelism: with no pods at once it never "
            "ends;");
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

std::string fault_of(std::string_view selection) {
  json::Arena arena;
  const auto set = json::parse(arena, R"({"metadata":{"name":"x"},"spec":{"replicatedJobs":[
      {"name":"driver"},{"name":"workers","replicas":3}]}})");
  const Status checked = check_selection(*set, selection);
  return checked ? "" : checked.error().message;
}

TEST(Startable, AProcessToEndWithIsThere) {
  for (const char* right : {"", "driver", "workers", "workers/2", "workers/x-workers-2",
                            "driver/0/0", "driver/x-driver-0/any"})
    EXPECT_EQ(fault_of(right), "") << right;
  EXPECT_EQ(fault_of("worker"),
            "--exit-code-from: there is no replicated job \"worker\"; did you mean \"workers\"? "
            "Others: driver");
  for (const char* wrong : {"workers/3", "workers/-1", "workers/", "workers/y-workers-0",
                            "driver/1/0", "/0", "x-workers-0"})
    EXPECT_NE(fault_of(wrong), "") << wrong;
}

}  // namespace startable_test
}  // namespace muster::cli
