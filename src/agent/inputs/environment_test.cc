#include "agent/inputs/environment.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "agent/inputs/limits.h"
#include "agent/inputs/testing.h"

namespace muster::agent {
namespace environment_test {

using json::Tree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Environment : public ::testing::Test {
 protected:
  Result<CommandLine> made(std::string_view container) {
    return command_line(pod_, Tree(container), facts_, objects_);
  }
  // Of a container with these members and a command.
  std::vector<std::string> environment(std::string_view members) {
    const auto line = made(R"({"name":"c","command":["x"],)" + std::string(members) + "}");
    return line ? line->environment : std::vector<std::string>{"error: " + line.error().message};
  }

  Tree pod_{R"({"metadata": {"name": "p", "namespace": "d", "labels": {"i": "3"}}})"};
  PodFacts facts_;
  FakeObjects objects_;
};

TEST_F(Environment, CommandAndArgsAreOneCommandLine) {
  EXPECT_THAT(made(R"({"command":["sh","-c"],"args":["echo x"]})")->argv,
              ElementsAre("sh", "-c", "echo x"));
  EXPECT_THAT(made(R"({"args":["sleep","1"]})")->argv, ElementsAre("sleep", "1"));
  EXPECT_EQ(made(R"({"command":["x"],"workingDir":"/w"})")->working_directory, "/w");
}

TEST_F(Environment, WithoutACommandItSaysWhatToDo) {
  EXPECT_THAT(made(R"({"name":"main","image":"x"})").error().message,
              HasSubstr("container main has no command"));
}

TEST_F(Environment, ImageSaysWhatTheContainerDoesNot) {
  const Image image{.rootfs = "/images/x",
                    .argv = {"serve", "--all"},
                    .environment = {"PATH=/opt/bin", "MODE=fast"},
                    .working_directory = "/srv",
                    .user = {}};
  facts_.inherited = {"PATH=/usr/bin"};
  facts_.image = &image;
  EXPECT_THAT(made(R"({"name":"c"})")->argv, ElementsAre("serve", "--all"));
  EXPECT_THAT(made(R"({"args":["--one"]})")->argv, ElementsAre("serve", "--one"));
  EXPECT_THAT(made(R"({"command":["sh"]})")->argv, ElementsAre("sh"));
  EXPECT_THAT(made(R"({"command":["sh"],"args":["-c"]})")->argv, ElementsAre("sh", "-c"));
  EXPECT_EQ(made(R"({"name":"c"})")->working_directory, "/srv");
  EXPECT_EQ(made(R"({"workingDir":"/w"})")->working_directory, "/w");
  EXPECT_THAT(environment(R"("env":[{"name":"MODE","value":"slow"}])"),
              ElementsAre("PATH=/opt/bin", "MODE=slow"));
}

TEST_F(Environment, ImageWithoutAProgramNeedsACommand) {
  const Image image{.rootfs = "/images/x", .argv = {}, .environment = {}, .user = {}};
  facts_.image = &image;
  EXPECT_THAT(made(R"({"name":"main"})").error().message,
              HasSubstr("container main has no command; its image names none either"));
  EXPECT_THAT(made(R"({"args":["sleep","1"]})")->argv, ElementsAre("sleep", "1"));
  EXPECT_EQ(made(R"({"args":["sleep"]})")->working_directory, "/");
}

TEST_F(Environment, ValuesSeeWhatWasNamedBeforeThem) {
  EXPECT_THAT(environment(R"j("env":[{"name":"B","value":"$(A)"},{"name":"A","value":"1"},
                                    {"name":"C","value":"$(A)$(B)$$(A)"},{"name":"A","value":"$(A)2"}])j"),
              ElementsAre("B=$(A)", "A=12", "C=1$(A)$(A)"));
}

TEST_F(Environment, CommandsSeeTheFinalValues) {
  const auto line =
      made(R"j({"command":["$(A)","$(L)"],"args":["$$(A)","$(NO)","$(HOSTNAME)"],"env":[
      {"name":"A","value":"1"},{"name":"A","value":"2"},
      {"name":"L","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['i']"}}}]})j");
  EXPECT_THAT(line->argv, ElementsAre("2", "3", "$(A)", "$(NO)", "$(HOSTNAME)"));
  EXPECT_EQ(line->variables.at("A"), "2");
}

TEST_F(Environment, AnEmptyValueIsSet) {
  EXPECT_THAT(environment(R"("env":[{"name":"A","value":""},{"name":"B"}])"),
              ElementsAre("A=", "B="));
}

TEST_F(Environment, TakesWholeMapsInTheirOrder) {
  objects_.config_maps["d/m"] = R"({"data":{"z":"1","a":"2"},"binaryData":{"b":"AA=="}})";
  objects_.secrets["d/s"] = R"({"data":{"a":"c2VjcmV0","k":""}})";
  EXPECT_THAT(environment(R"("envFrom":[{"configMapRef":{"name":"m"}},{"secretRef":{"name":"s"}},
                                       {"prefix":"P_","configMapRef":{"name":"m"}}])"),
              ElementsAre("z=1", "a=secret", "k=", "P_z=1", "P_a=2"));
}

TEST_F(Environment, SingleVariablesWinOverWholeMapsAndMayUseThem) {
  objects_.config_maps["d/m"] = R"j({"data":{"A":"map","REF":"$(A)"}})j";
  EXPECT_THAT(environment(R"j("env":[{"name":"A","value":"$(A)!$(REF)"}],
                             "envFrom":[{"configMapRef":{"name":"m"}}])j"),
              ElementsAre("A=map!$(A)", "REF=$(A)"));
}

TEST_F(Environment, TakesSingleKeys) {
  objects_.config_maps["d/m"] = R"j({"data":{"k":"v$(X)"}})j";
  objects_.secrets["d/s"] = R"j({"data":{"k":"dw=="}})j";
  EXPECT_THAT(
      environment(R"("env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"m","key":"k"}}},
                            {"name":"B","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}])"),
      ElementsAre("A=v$(X)", "B=w"));
}

TEST_F(Environment, TakesResources) {
  EXPECT_THAT(environment(R"("resources":{"limits":{"cpu":"250m"}},"env":[
      {"name":"A","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1m"}}}])"),
              ElementsAre("A=250"));
}

struct Missing {
  std::string_view members;
  std::string_view error;
};
class MissingInput : public Environment, public ::testing::WithParamInterface<Missing> {};
TEST_P(MissingInput, IsNamedUnlessItIsOptional) {
  objects_.config_maps["d/m"] = R"({"data":{}})";
  objects_.secrets["d/s"] = "{}";
  EXPECT_THAT(environment(GetParam().members),
              ElementsAre("error: " + std::string(GetParam().error)));
  std::string optional(GetParam().members);
  optional.replace(optional.find("\"name\":\"", optional.find("Ref")), 0, "\"optional\":true,");
  EXPECT_THAT(environment(optional), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    Sources, MissingInput,
    ::testing::Values(
        Missing{R"("envFrom":[{"configMapRef":{"name":"no"}}])", R"(configmap "no" not found)"},
        Missing{R"("envFrom":[{"secretRef":{"name":"no"}}])", R"(secret "no" not found)"},
        Missing{R"("env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"no","key":"k"}}}])",
                R"(configmap "no" not found)"},
        Missing{R"("env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"no","key":"k"}}}])",
                R"(secret "no" not found)"},
        Missing{R"("env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"m","key":"k"}}}])",
                "couldn't find key k in ConfigMap d/m"},
        Missing{R"("env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}])",
                "couldn't find key k in Secret d/s"}));

TEST_F(Environment, WhatTheKernelCannotCarryIsAnError) {
  objects_.secrets["d/s"] = R"({"data":{"k":"YQBi"}})";
  EXPECT_THAT(environment(R"("envFrom":[{"secretRef":{"name":"s"}}])"),
              ElementsAre("error: environment variable k can't contain null (\\x00)"));
  EXPECT_FALSE(made(R"({"name":"c","command":["a\u0000b"]})"));
}

TEST_F(Environment, UnknownSourcesAreNamed) {
  EXPECT_THAT(environment(R"("env":[{"name":"A","valueFrom":{"fileKeyRef":{}}}])"),
              ElementsAre(HasSubstr("fileKeyRef")));
}

TEST_F(Environment, TheNodesOwnVariablesComeFirstAndLoseAgainstThePods) {
  facts_.inherited = {"PATH=/bin", "HOME=/h", "HOSTNAME=machine", "CUDA_VISIBLE_DEVICES=0,1",
                      "T=1"};
  facts_.hostname = "w-0";
  facts_.devices = {"CUDA_VISIBLE_DEVICES=1"};
  EXPECT_THAT(
      environment(R"("env":[{"name":"HOME","value":"/mine"}])"),
      ElementsAre("PATH=/bin", "T=1", "HOSTNAME=w-0", "CUDA_VISIBLE_DEVICES=1", "HOME=/mine"));
  EXPECT_THAT(environment(R"("env":[{"name":"CUDA_VISIBLE_DEVICES","value":""},
                                   {"name":"HOSTNAME","value":"own"}])"),
              ElementsAre("PATH=/bin", "HOME=/h", "T=1", "CUDA_VISIBLE_DEVICES=", "HOSTNAME=own"));
}

// Twenty variables of a few bytes each, of which the last one would have a mebibyte.
std::string doubling_variables() {
  std::string text = R"("env":[{"name":"A0","value":"x"})";
  for (int i = 1; i <= 20; ++i)
    text += fmt::format(R"j(,{{"name":"A{0}","value":"$(A{1})$(A{1})"}})j", i, i - 1);
  return text + "]";
}

class EnvironmentLimits : public Environment {
 protected:
  EnvironmentLimits() {
    const std::string large(100'000, 'x');
    objects_.config_maps["d/m"] = R"({"data":{"k":")" + large + R"("}})";
    objects_.secrets["d/s"] = R"({"data":{"k":")" + large + R"("}})";
  }
  // Of a container with so many of the items in that list.
  std::string refusal(std::string_view list, std::string_view item, int count) {
    std::string text = fmt::format(R"({{"name":"c","command":["x"],"{}":[{})", list, item);
    for (int i = 1; i < count; ++i) text += fmt::format(",{}", item);
    const auto line = made(text + "]}");
    if (line) return "";
    EXPECT_EQ(line.error().code, Code::kTooLarge);
    return line.error().message;
  }
};

constexpr std::string_view kAllTooLarge =
    "arguments and environment have more than 6291456 bytes, the most that a program can be given";

TEST_F(EnvironmentLimits, AValueThatDoublesStopsAtTheLongestThatExecveTakes) {
  const auto line = made(R"({"name":"c","command":["x"],)" + doubling_variables() + "}");
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, Code::kTooLarge);
  EXPECT_EQ(line.error().message,
            "environment variable A17 has more than 131071 bytes, the most that a program can be "
            "given");
}

TEST_F(EnvironmentLimits, TheLongestVariableThatExecveTakesIsTaken) {
  const auto with = [&](std::size_t size) {
    return made(fmt::format(R"({{"command":["x"],"env":[{{"name":"A","value":"{}"}}]}})",
                            std::string(size, 'x')));
  };
  EXPECT_TRUE(with(kMostWord - 2)) << "A= counts";
  EXPECT_EQ(with(kMostWord - 1).error().code, Code::kTooLarge);
}

TEST_F(EnvironmentLimits, WhatIsReferredToOftenCountsEachTime) {
  EXPECT_EQ(refusal("envFrom", R"({"prefix":"p","configMapRef":{"name":"m"}})", 60), "");
  EXPECT_EQ(refusal("envFrom", R"({"prefix":"p","configMapRef":{"name":"m"}})", 70), kAllTooLarge);
  EXPECT_EQ(refusal("envFrom", R"({"secretRef":{"name":"s"}})", 90), kAllTooLarge);
  const auto key = [](std::string_view kind, std::string_view name) {
    return fmt::format(R"({{"name":"V","valueFrom":{{"{}":{{"name":"{}","key":"k"}}}}}})", kind,
                       name);
  };
  EXPECT_EQ(refusal("env", key("configMapKeyRef", "m"), 60), "");
  EXPECT_EQ(refusal("env", key("configMapKeyRef", "m"), 70), kAllTooLarge);
  EXPECT_EQ(refusal("env", key("secretKeyRef", "s"), 90), kAllTooLarge);
}

TEST_F(EnvironmentLimits, FieldsThatAreNamedOftenCountEachTime) {
  const Tree pod(R"({"metadata":{"name":"p","namespace":"d","annotations":{"a":")" +
                 std::string(100'000, 'x') + R"("}}})");
  std::string env;
  for (int i = 0; i < 70; ++i)
    env += fmt::format(R"({}{{"name":"V{}","valueFrom":{{"fieldRef":)"
                       R"({{"fieldPath":"metadata.annotations"}}}}}})",
                       i == 0 ? "" : ",", i);
  const auto line =
      command_line(pod, Tree(R"({"command":["x"],"env":[)" + env + "]}"), facts_, objects_);
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().message, kAllTooLarge);
}

TEST_F(EnvironmentLimits, ArgumentsAreBoundOneByOneAndTogether) {
  const std::string variable =
      R"("env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"m","key":"k"}}}])";
  const auto with = [&](std::string_view args) {
    const auto line = made(fmt::format(R"({{"command":["x"],{},"args":[{}]}})", variable, args));
    return line ? "" : line.error().message;
  };
  EXPECT_EQ(with(R"j("$(A)")j"), "");
  EXPECT_EQ(with(R"j("y","$(A)$(A)")j"),
            "word 2 of the command line (args) has more than 131071 bytes, the most that a program "
            "can be given");
  std::string many = R"j("$(A)")j";
  for (int i = 0; i < 70; ++i) many += R"j(,"$(A)")j";
  EXPECT_EQ(with(many), kAllTooLarge);
}

TEST(ProbeCommand, IsBoundAsTheProgramItself) {
  const Tree container(R"j({"env":[{"name":"A","value":")j" + std::string(100'000, 'x') +
                       R"j("}]})j");
  EXPECT_TRUE(probe_command(container, Tree(R"j(["$(A)"])j")));
  const auto refused = probe_command(container, Tree(R"j(["$(A)$(A)"])j"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kTooLarge);
}

TEST(ProbeCommand, SeesLiteralValuesAsTheyAreWritten) {
  const Tree container(R"j({"env":[{"name":"A","value":"a"},{"name":"B","value":"$(A)"},
      {"name":"F","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]})j");
  EXPECT_THAT(*probe_command(container, Tree(R"j(["$(A)","$(B)","[$(F)]","$(NO)","$$"])j")),
              ElementsAre("a", "$(A)", "[]", "$(NO)", "$"));
}

}  // namespace environment_test
}  // namespace muster::agent
