#include "api/values/toleration.h"

#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::api {
namespace toleration_test {

struct Row {
  std::string_view sentence;
  std::string_view toleration;
  bool bears;
};

TEST(Toleration, BearsATaint) {
  const Taint taint{.key = "gpu", .value = "a100", .effect = "NoSchedule"};
  const Row rows[] = {
      {"without an operator the value must be equal", R"({"key":"gpu","value":"a100"})", true},
      {"another value is another taint", R"({"key":"gpu","value":"h100"})", false},
      {"Exists asks for no value", R"({"key":"gpu","operator":"Exists"})", true},
      {"no key and Exists bears everything", R"({"operator":"Exists"})", true},
      {"an effect that is named must be the taint's",
       R"({"key":"gpu","operator":"Exists","effect":"NoExecute"})", false},
      {"another key is another taint", R"({"key":"cpu","operator":"Exists"})", false},
      {"Gt is a feature that is off", R"({"key":"gpu","operator":"Gt","value":"1"})", false},
  };
  for (const Row& row : rows) {
    json::Arena arena;
    const auto tolerations =
        read_tolerations(*json::parse(arena, "[" + std::string(row.toleration) + "]"));
    EXPECT_EQ(find_toleration(tolerations, taint) != nullptr, row.bears) << row.sentence;
  }
}

TEST(Toleration, TheFirstOneThatBearsTheTaintSaysForHowLong) {
  json::Arena arena;
  const auto tolerations = read_tolerations(*json::parse(arena, R"([{"key":"x","operator":"Exists"},
                 {"key":"gpu","operator":"Exists","tolerationSeconds":30},
                 {"operator":"Exists"}])"));
  const auto* const found =
      find_toleration(tolerations, {.key = "gpu", .value = "", .effect = "NoExecute"});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->seconds, 30);
}

}  // namespace toleration_test
}  // namespace muster::api
