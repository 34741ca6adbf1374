#include "agent/inputs/volume_payload.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "agent/inputs/testing.h"

namespace muster::agent {
namespace volume_payload_test {

using json::Tree;
using ::testing::StartsWith;

class VolumePayload : public ::testing::Test {
 protected:
  VolumePayload() {
    const std::string large(std::size_t{1} << 20, 'x');
    objects_.config_maps["d/m"] = R"({"data":{"k":")" + large + R"("}})";
    objects_.secrets["d/s"] = R"({"data":{"k":")" + large + R"("}})";
  }
  Result<Payload> made(std::string_view volume) {
    return payload_of(Tree(volume), {.pod = pod_,
                                     .facts = facts_,
                                     .objects = objects_,
                                     .service_account_token = token_,
                                     .room = room_});
  }
  // {"key":"k","path":"f0"} and so on; what is before the number of the path may be a folder.
  static std::string items(std::string_view path, int count) {
    std::string text = R"("items":[)";
    for (int i = 0; i < count; ++i)
      text += fmt::format(R"({}{{"key":"k","path":"{}{}"}})", i == 0 ? "" : ",", path, i);
    return text + "]";
  }
  static std::string of_config_map(const std::string& members) {
    return R"({"configMap":{"name":"m",)" + members + "}}";
  }
  void expect_too_large(std::string_view volume) {
    const auto refused = made(volume);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kTooLarge);
    EXPECT_THAT(refused.error().message,
                StartsWith("the files of the pod's volumes take more than 67108864 bytes"));
  }

  Tree pod_{R"({"metadata": {"name": "p", "namespace": "d"}})"};
  PodFacts facts_;
  FakeObjects objects_;
  std::function<Result<std::string>(json::Value)> token_;
  PayloadRoom room_;
};

TEST_F(VolumePayload, OneObjectMayBeNamedOftenButNotForEver) {
  EXPECT_EQ(made(of_config_map(items("f", 60)))->size(), 60U);
  expect_too_large(of_config_map(items("f", 5)));  // the volumes of a pod count together
}

TEST_F(VolumePayload, FilesThatReplaceEachOtherCountEachTime) {
  std::string sources = R"({"configMap":{"name":"m"}})";
  for (int i = 1; i < 70; ++i) sources += R"(,{"configMap":{"name":"m"}})";
  expect_too_large(R"({"projected":{"sources":[)" + sources + "]}}");
}

TEST_F(VolumePayload, SecretsAndTheDownwardApiAreBoundAlike) {
  expect_too_large(R"({"secret":{"secretName":"s",)" + items("f", 90) + "}}");
  room_ = {};
  const Tree pod(R"({"metadata":{"name":"p","namespace":"d","annotations":{"a":")" +
                 std::string(200'000, 'x') + R"("}}})");
  pod_.root = pod.root;
  std::string fields;
  for (int i = 0; i < 400; ++i)
    fields +=
        fmt::format(R"({}{{"path":"f{}","fieldRef":{{"fieldPath":"metadata.annotations['a']"}}}})",
                    i ? "," : "", i);
  expect_too_large(R"({"downwardAPI":{"items":[)" + fields + "]}}");
}

TEST_F(VolumePayload, TokensAreBoundAlike) {
  token_ = [](json::Value) { return std::string(std::size_t{1} << 20, 't'); };
  std::string sources;
  for (int i = 0; i < 70; ++i)
    sources += fmt::format(R"({}{{"serviceAccountToken":{{"path":"t{}"}}}})", i == 0 ? "" : ",", i);
  expect_too_large(R"({"projected":{"sources":[)" + sources + "]}}");
}

TEST_F(VolumePayload, EmptyFilesAndFoldersAreNotFree) {
  objects_.config_maps["d/m"] = R"({"data":{"k":""}})";
  expect_too_large(of_config_map(items("f", 20'000)));
  room_ = {};
  std::string deep;
  for (int i = 0; i < 1'000; ++i) deep += "d/";
  expect_too_large(of_config_map(items(deep, 20)));
}

}  // namespace volume_payload_test
}  // namespace muster::agent
