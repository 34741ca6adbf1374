#include "sim/canonical.h"

#include <gmock/gmock.h>

#include "json/testing.h"

namespace muster::sim {
namespace canonical_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string state(std::initializer_list<std::string_view> objects) {
  json::Arena arena;
  std::vector<json::Value> values;
  for (const std::string_view object : objects) values.push_back(*json::parse(arena, object));
  return canonical_state(values);
}

TEST(Canonical, WhatMayRightlyDifferIsDropped) {
  EXPECT_EQ(
      state(
          {R"({"kind":"Job","metadata":{"namespace":"d","name":"j","uid":"1","resourceVersion":"7",
                 "creationTimestamp":"2030-01-01T00:00:00Z","managedFields":[{}],"generation":2,
                 "labels":{"batch.kubernetes.io/controller-uid":"1"}},
                 "status":{"startTime":"2030-01-01T00:00:01Z","succeeded":1}})"}),
      state(
          {R"({"kind":"Job","metadata":{"namespace":"d","name":"j","uid":"2","resourceVersion":"9",
                 "labels":{"batch.kubernetes.io/controller-uid":"2"}},"status":{"succeeded":1}})"}));
}

TEST(Canonical, WhatMattersStays) {
  const std::string before = state({R"({"kind":"Job","metadata":{"namespace":"d","name":"j",
      "labels":{"a":"b"}},"spec":{"suspend":true},"status":{"succeeded":1}})"});
  for (const std::string_view kept : {R"("a":"b")", R"("suspend":true)", R"("succeeded":1)"})
    EXPECT_THAT(before, HasSubstr(kept));
  const std::string after = state({R"({"kind":"Job","metadata":{"namespace":"d","name":"j",
      "labels":{"a":"b"}},"spec":{"suspend":true},"status":{"succeeded":2}})"});
  EXPECT_EQ(difference(before, before), "");
  EXPECT_EQ(difference(before, after), "Job d/j .status.succeeded: 1 became 2\n");
}

TEST(Canonical, ThatSomethingIsBeingDeletedShows) {
  const std::string_view stays = R"({"kind":"Job","metadata":{"namespace":"d","name":"j"}})";
  const std::string_view goes = R"({"kind":"Job","metadata":{"namespace":"d","name":"j",
      "deletionTimestamp":"2030-01-01T00:00:00Z"}})";
  EXPECT_NE(state({stays}), state({goes}));
}

TEST(Canonical, OfAPodsStatusOnlyThePhaseCounts) {
  const std::string text = state({R"({"kind":"Pod","metadata":{"namespace":"d","name":"p"},
      "spec":{"nodeName":"n"},"status":{"phase":"Running","hostIP":"10.0.0.1","message":"x"}})"});
  EXPECT_THAT(text, HasSubstr(R"("status":{"phase":"Running"})"));
  EXPECT_THAT(text, Not(HasSubstr("nodeName")));
}

TEST(Canonical, GeneratedNamesAreAlikeAlsoInMessages) {
  const auto with = [](const std::string& suffix) {
    const std::string pod = R"({"kind":"Pod","metadata":{"namespace":"d","generateName":"j-0-",
        "name":"j-0-)" + suffix +
                            R"("},"status":{"phase":"Failed"}})";
    const std::string job = R"({"kind":"Job","metadata":{"namespace":"d","name":"j"},"status":{
        "conditions":[{"type":"Failed","message":"pod d/j-0-)" +
                            suffix + R"( failed"}]}})";
    return state({pod, job});
  };
  EXPECT_EQ(with("abcde"), with("fghij"));
}

TEST(Canonical, MissingNewAndTwinObjectsAreTold) {
  const std::string_view pod = R"({"kind":"Pod","metadata":{"namespace":"d","name":"p"}})";
  EXPECT_EQ(difference(state({pod}), state({})), "Pod d/p is missing\n");
  EXPECT_EQ(difference(state({pod}), state({pod, pod})), "Pod d/p #2 is new\n");
  EXPECT_THAT(difference(state({pod, pod}), state({pod, pod})), IsEmpty());
}

}  // namespace canonical_test
}  // namespace muster::sim
