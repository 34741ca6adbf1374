#include "admission/rules/same_meaning.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/schema/registry.h"
#include "json/parse.h"

namespace muster::admission {
namespace same_meaning_test {

TEST(SameMeaning, KnowsWhatGoProgramsLeaveOutAddAndSpellAnew) {
  const struct {
    std::string_view what, a, b;  // members of the first container
    bool same;
  } rows[] = {
      {"nothing", "", "", true},
      {"a struct that is always written", "", R"("resources": {})", true},
      {"an empty list", "", R"("command": [])", true},
      {"an empty map", R"("resources": {"limits": {}})", "", true},
      {"no text", R"("workingDir": "")", "", true},
      {"false", R"("tty": false)", "", true},
      {"null", R"("command": null)", "", true},
      {"zero in a probe", R"("startupProbe": {"periodSeconds": 0})", R"("startupProbe": {})", true},
      {"an empty value of a variable", R"("env": [{"name": "E", "value": ""}])",
       R"("env": [{"name": "E"}])", true},
      {"amounts", R"("resources": {"limits": {"cpu": "0.5", "memory": "1024Mi", "gpu": 1}})",
       R"("resources": {"limits": {"cpu": "500m", "memory": "1Gi", "gpu": "1"}})", true},
      {"another amount", R"("resources": {"limits": {"cpu": "1"}})",
       R"("resources": {"limits": {"cpu": "2"}})", false},
      {"one amount more", R"("resources": {"limits": {}})",
       R"("resources": {"limits": {"x": "0"}})", false},
      {"another text", R"("image": "a")", R"("image": "b")", false},
      {"true", R"("tty": true)", "", false},
      {"another order", R"("command": ["a", "b"])", R"("command": ["b", "a"])", false},
      {"one item more", R"("command": ["a"])", R"("command": ["a", ""])", false},
      {"an empty struct behind a pointer", "", R"("securityContext": {})", false},
      {"zero behind a pointer", R"("securityContext": {})",
       R"("securityContext": {"runAsUser": 0})", false},
      {"false behind a pointer", R"("securityContext": {})",
       R"("securityContext": {"privileged": false})", false},
      {"what nobody knows", "", R"("unheard": "")", false},
      {"what nobody knows, the same", R"("unheard": 1)", R"("unheard": 1)", true},
      {"what is of no type", R"("resources": "")", R"("resources": [])", false},
  };
  const api::Schema* const pod = api::Registry::builtin().type("io.k8s.api.core.v1.PodSpec");
  ASSERT_NE(pod, nullptr);
  json::Arena arena;
  const auto spec = [&](std::string_view members) {
    return json::parse(arena, fmt::format(R"({{"containers": [{{{}}}]}})", members)).value();
  };
  for (const auto& row : rows) {
    EXPECT_EQ(same_meaning(spec(row.a), spec(row.b), *pod), row.same) << row.what;
    EXPECT_EQ(same_meaning(spec(row.b), spec(row.a), *pod), row.same) << row.what << ", reversed";
  }
}

}  // namespace same_meaning_test
}  // namespace muster::admission
