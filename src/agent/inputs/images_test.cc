#include "agent/inputs/images.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace muster::agent {
namespace images_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ImagesTest : public ::testing::Test {
 protected:
  ImagesTest() {
    char name[] = "/tmp/muster-images-XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~ImagesTest() override { std::filesystem::remove_all(directory_); }
  std::string folder(const std::string& name) {
    std::filesystem::create_directories(directory_ + "/" + name);
    return directory_ + "/" + name;
  }
  std::string directory_;
};

TEST_F(ImagesTest, ImageIsFoundByItsName) {
  const Images images{.oci_program = "crun",
                      .folders = {{"registry.example/train:v1", folder("train")}},
                      .other = folder("other")};
  EXPECT_EQ(find_image(images, "registry.example/train:v1")->rootfs, directory_ + "/train");
  EXPECT_EQ(find_image(images, "busybox")->rootfs, directory_ + "/other");
}

TEST_F(ImagesTest, ImageThatIsNotHereIsNamedInTheWordsOfAKubelet) {
  const auto image = find_image({.oci_program = "crun", .folders = {}, .other = ""}, "busybox:1");
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code, Code::kNotFound);
  EXPECT_THAT(image.error().message,
              HasSubstr("Container image \"busybox:1\" is not present with pull policy of Never"));
}

TEST_F(ImagesTest, FolderThatIsMissingIsNoImage) {
  const auto image =
      find_image({.oci_program = "crun", .folders = {}, .other = directory_ + "/none"}, "x");
  ASSERT_FALSE(image);
  EXPECT_THAT(image.error().message, HasSubstr("Failed to inspect image \"x\""));
  EXPECT_THAT(image.error().message, HasSubstr("/none"));
}

TEST_F(ImagesTest, PlainRootFileSystemSaysNothingElse) {
  const auto image =
      find_image({.oci_program = "crun", .folders = {}, .other = folder("root")}, "x");
  ASSERT_TRUE(image);
  EXPECT_THAT(image->argv, IsEmpty());
  EXPECT_THAT(image->environment, IsEmpty());
  EXPECT_EQ(image->working_directory, "/");
  EXPECT_FALSE(image->user);
}

TEST_F(ImagesTest, BundleSaysWhatToRun) {
  std::ofstream(folder("bundle") + "/config.json")
      << R"({"root": {"path": "rootfs"}, "process": {"args": ["serve", "--all"],
             "env": ["PATH=/opt/bin", "MODE=fast"], "cwd": "/srv", "user": {"uid": 7, "gid": 8}}})";
  const auto image =
      find_image({.oci_program = "crun", .folders = {}, .other = directory_ + "/bundle"}, "x");
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->rootfs, directory_ + "/bundle/rootfs");
  EXPECT_THAT(image->argv, ElementsAre("serve", "--all"));
  EXPECT_THAT(image->environment, ElementsAre("PATH=/opt/bin", "MODE=fast"));
  EXPECT_EQ(image->working_directory, "/srv");
  ASSERT_TRUE(image->user);
  EXPECT_EQ(image->user->uid, 7u);
  EXPECT_EQ(image->user->gid, 8u);
}

TEST_F(ImagesTest, RootOfABundleMayLieElsewhere) {
  EXPECT_EQ(image_from_config(R"({"root":{"path":"/images/x"}})", "/bundle")->rootfs, "/images/x");
}

TEST_F(ImagesTest, BundleThatCannotBeReadSaysWhy) {
  std::ofstream(folder("bad") + "/config.json") << "{";
  const auto image =
      find_image({.oci_program = "crun", .folders = {}, .other = directory_ + "/bad"}, "x");
  ASSERT_FALSE(image);
  EXPECT_THAT(image.error().message, HasSubstr("config.json: unexpected end of JSON input"));
  EXPECT_FALSE(image_from_config(R"({"process":{}})", "/bundle"));
}

}  // namespace images_test
}  // namespace muster::agent
