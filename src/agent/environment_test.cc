#include "agent/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Environment : public testing::Test {
 protected:
  Result<ProcessSpec> spec(std::string_view container,
                           const std::vector<std::string>& inherited = {}) {
    const json::Value pod =
        *json::parse(arena_, R"({"metadata":{"name":"p","namespace":"d","labels":{"a/b":"7"}}})");
    return process_spec(pod, *json::parse(arena_, container), inherited);
  }
  json::Arena arena_;
};

TEST_F(Environment, CommandAndArgsAreOneCommandLine) {
  EXPECT_THAT(spec(R"({"command":["sh","-c"],"args":["echo x"]})")->argv,
              ElementsAre("sh", "-c", "echo x"));
}

TEST_F(Environment, WithoutACommandItSaysWhatToDo) {
  const auto none = spec(R"({"name":"main","image":"x"})");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no command"));
}

TEST_F(Environment, VariablesMayUseEarlierOnes) {
  const auto made = spec(
      R"j({"command":["$(B)","$(C)","$$(A)"],"env":[{"name":"A","value":"1"},{"name":"B","value":"$(A)2"}]})j");
  EXPECT_THAT(made->argv, ElementsAre("12", "$(C)", "$(A)"));
  EXPECT_THAT(made->environment, ElementsAre("A=1", "B=12"));
}

TEST_F(Environment, ReadsTheDownwardApi) {
  const auto made = spec(R"({"command":["x"],"env":[
    {"name":"L","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['a/b']"}}},
    {"name":"N","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]})");
  EXPECT_THAT(made->environment, ElementsAre("L=7", "N=p"));
}

TEST_F(Environment, ThePodsOwnVariablesWinOverInheritedOnes) {
  const auto made = spec(R"({"command":["x"],"env":[{"name":"PATH","value":"/mine"}]})",
                         {"PATH=/usr/bin", "HOME=/h"});
  EXPECT_THAT(made->environment, Contains("PATH=/mine"));
  EXPECT_THAT(made->environment, Not(Contains("PATH=/usr/bin")));
  EXPECT_THAT(made->environment, Contains("HOME=/h"));
}

}  // namespace
}  // namespace muster::agent
