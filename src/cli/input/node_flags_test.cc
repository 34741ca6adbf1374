#include "cli/input/node_flags.h"

#include <gmock/gmock.h>

namespace muster::cli {
namespace node_flags_test {

using testing::HasSubstr;
using testing::IsEmpty;

NodeFlags flags(std::string runtime, std::vector<std::string> root_folders) {
  NodeFlags made;
  made.runtime = std::move(runtime);
  made.root_folders = std::move(root_folders);
  return made;
}

TEST(ImageFlags, NameFoldersOfImages) {
  const auto policy = pod_policy(flags("oci", {"train:v1=/images/train", "/images/other/"}));
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->oci_runtime, "oci");
  EXPECT_EQ(policy->images.folders.at("train:v1"), "/images/train");
  EXPECT_EQ(policy->images.other, "/images/other/");
}

TEST(ImageFlags, FoldersAreFoundFromEverywhere) {
  EXPECT_THAT(pod_policy(flags("crun", {"x=here"}))->images.folders.at("x"), HasSubstr("/here"));
}

TEST(ImageFlags, PlainProcessesHaveNone) {
  EXPECT_THAT(pod_policy(NodeFlags{})->oci_runtime, IsEmpty());
  EXPECT_THAT(pod_policy(flags("process", {"/x"})).error().message, HasSubstr("--runtime oci"));
}

TEST(ImageFlags, ThatSayTooLittleOrTooMuchAreRefused) {
  EXPECT_THAT(pod_policy(flags("oci", {})).error().message, HasSubstr("--rootfs"));
  for (const std::string text : {"", "=/x", "x="}) {
    EXPECT_THAT(pod_policy(flags("oci", {text})).error().message, HasSubstr("[IMAGE=]DIR"));
  }
  EXPECT_THAT(pod_policy(flags("oci", {"/x", "/y"})).error().message, HasSubstr("already"));
  EXPECT_THAT(pod_policy(flags("oci", {"a=/x", "a=/y"})).error().message, HasSubstr("already"));
}

}  // namespace node_flags_test
}  // namespace muster::cli
