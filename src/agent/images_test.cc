// Containers with images of their own: found, run, or named as missing.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "agent/testing.h"

namespace muster::agent {
namespace images_test {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTraining = R"({"restartPolicy":"Never","containers":[
    {"name":"a","image":"training:v1","command":["train"]}]})";

class AgentImagesTest : public ::testing::Test {
 protected:
  AgentImagesTest() {
    node_.options.images.oci_program = "/usr/bin/crun";
    node_.machine.set_programs([this](const runtime::RunSpec& spec) {
      specs_.push_back(spec);
      return runtime::FakeProgram{.lasts = seconds(1)};
    });
  }
  testing::TestNode node_;
  std::vector<runtime::RunSpec> specs_;
};

TEST_F(AgentImagesTest, ContainerRunsInTheFolderOfItsImage) {
  node_.options.images.folders["training:v1"] = node_.directory;
  node_.options.environment = {"TZ=UTC"};
  node_.start_agent();
  node_.make_pod("p", kTraining);
  ASSERT_EQ(specs_.size(), 1u);
  EXPECT_EQ(specs_[0].rootfs, node_.directory);
  EXPECT_EQ(specs_[0].oci_program, "/usr/bin/crun");
  EXPECT_EQ(specs_[0].working_directory, "/");
  EXPECT_THAT(specs_[0].environment,
              AllOf(Contains("TZ=UTC"), Contains(HasSubstr("PATH=/usr/local/sbin"))));
  EXPECT_THAT(node_.events("p"), Not(Contains(HasSubstr("ImageIgnored"))));
}

TEST_F(AgentImagesTest, ImageThatIsNotThereIsNamedAndAwaited) {
  node_.start_agent();
  node_.make_pod("p", kTraining);
  const json::Value waiting = node_.container("p", "a").get({"state", "waiting"});
  EXPECT_EQ(waiting.get("reason").as_string(), "ErrImageNeverPull");
  EXPECT_THAT(waiting.get("message").as_string(), HasSubstr("\"training:v1\" is not present"));
  EXPECT_THAT(node_.events("p"), Contains(HasSubstr("Warning ErrImageNeverPull: Container image "
                                                    "\"training:v1\" is not present")));
  EXPECT_THAT(node_.events("p"), Contains("Warning Failed: Error: ErrImageNeverPull"));
  EXPECT_EQ(node_.phase("p"), "Pending");
}

TEST_F(AgentImagesTest, FolderThatComesLaterIsFound) {
  const std::string folder = node_.directory + "/later";
  node_.options.images.other = folder;
  node_.start_agent();
  node_.make_pod("p", kTraining);
  EXPECT_EQ(node_.container("p", "a").get({"state", "waiting", "reason"}).as_string(),
            "ImageInspectError");
  std::filesystem::create_directory(folder);
  node_.pass(seconds(15));
  EXPECT_EQ(node_.phase("p"), "Succeeded");
}

TEST_F(AgentImagesTest, ImagesUserCountsOnlyWhereContainersMayChoose) {
  std::ofstream(node_.directory + "/config.json")
      << R"({"root":{"path":"root"},"process":{"user":{"uid":7,"gid":8}}})";
  node_.options.images.other = node_.directory;
  node_.options.identity = {.uid = 0, .pod_user = {.uid = 65534, .gid = 65534, .groups = {}}};
  const auto uids = [this] {
    std::vector<std::uint32_t> found;
    for (const runtime::RunSpec& spec : specs_) found.push_back(spec.user ? spec.user->uid : 0);
    return found;
  };
  node_.start_agent();
  node_.make_pod("strict", kTraining);
  EXPECT_THAT(uids(), ElementsAre(65534));
  node_.options.identity.any_user = true;
  node_.start_agent();
  node_.make_pod("free", kTraining);
  node_.make_pod("asks", R"({"securityContext":{"runAsUser":9},"containers":[{"name":"a"}]})");
  EXPECT_THAT(uids(), ElementsAre(65534, 7, 9));
}

}  // namespace images_test
}  // namespace muster::agent
