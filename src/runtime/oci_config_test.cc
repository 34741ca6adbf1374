#include "runtime/oci_config.h"

#include <gmock/gmock.h>

#include "json/parse.h"
#include "json/write.h"

namespace muster::runtime {
namespace oci_config_test {

using json::Value;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr OciCaller kRoot{.uid = 0, .gid = 0};
constexpr OciCaller kAlice{.uid = 1000, .gid = 100};

class OciConfigTest : public testing::Test {
 protected:
  Value config(const RunSpec& run, const OciCaller& caller = kRoot,
               const std::vector<Mount>& mounts = {}) {
    auto parsed = json::parse(arena_, oci_config(run, mounts, caller));
    EXPECT_TRUE(parsed) << parsed.error().message;
    return parsed.value_or(Value());
  }
  static std::vector<std::string> texts(Value list) {
    std::vector<std::string> out;
    for (const Value each : list.items()) out.emplace_back(each.as_string());
    return out;
  }
  static std::vector<std::string> fields(Value list, std::string_view field) {
    std::vector<std::string> out;
    for (const Value each : list.items()) out.emplace_back(each.get(field).as_string());
    return out;
  }
  json::Arena arena_;
};

TEST_F(OciConfigTest, ProgramIsThatOfTheRun) {
  const Value process = config({.argv = {"train", "--rate", "0.1"},
                                .environment = {"PATH=/bin", "RANK=3"},
                                .working_directory = "/data"})
                            .get("process");
  EXPECT_THAT(texts(process.get("args")), ElementsAre("train", "--rate", "0.1"));
  EXPECT_THAT(texts(process.get("env")), ElementsAre("PATH=/bin", "RANK=3"));
  EXPECT_EQ(process.get("cwd").as_string(), "/data");
  EXPECT_FALSE(process.get("terminal").as_bool());
  EXPECT_TRUE(process.get("noNewPrivileges").as_bool());
}

TEST_F(OciConfigTest, ProgramMayOpenAsManyFilesAsTheCallerLets) {
  const OciCaller caller{.open_files = 321, .most_open_files = ~std::uint64_t{0}};
  EXPECT_EQ(json::write(config({}, caller).get({"process", "rlimits"})),
            R"([{"type":"RLIMIT_NOFILE","soft":321,"hard":18446744073709551615}])");
}

TEST_F(OciConfigTest, ProcessesOfTheUserAreBoundedWhereTheRunSaysSo) {
  EXPECT_THAT(fields(config({}).get({"process", "rlimits"}), "type"), ElementsAre("RLIMIT_NOFILE"));
  const Value limit = config({.user_processes = 77}).get({"process", "rlimits"}).item(1);
  EXPECT_EQ(json::write(limit), R"({"type":"RLIMIT_NPROC","soft":77,"hard":77})");
}

TEST_F(OciConfigTest, WorkingDirectoryIsAbsolute) {
  EXPECT_EQ(config({.working_directory = ""}).get({"process", "cwd"}).as_string(), "/");
  EXPECT_EQ(config({.working_directory = "app"}).get({"process", "cwd"}).as_string(), "/app");
}

TEST_F(OciConfigTest, UserOfTheRunHasNoCapabilities) {
  const Value process =
      config({.user = User{.uid = 65534, .gid = 100, .groups = {20, 30}}}).get("process");
  EXPECT_EQ(json::write(process.get("user")),
            R"({"uid":65534,"gid":100,"additionalGids":[20,30]})");
  EXPECT_THAT(texts(process.get({"capabilities", "bounding"})), IsEmpty());
  EXPECT_THAT(texts(process.get({"capabilities", "effective"})), IsEmpty());
}

TEST_F(OciConfigTest, RootHasCapabilitiesThatDoNotReachBeyondTheContainer) {
  const Value capabilities = config({.user = User{}}).get({"process", "capabilities"});
  for (const std::string_view set : {"bounding", "effective", "permitted"}) {
    EXPECT_THAT(texts(capabilities.get(set)), Contains("CAP_CHOWN")) << set;
    for (const char* beyond : {"CAP_MKNOD", "CAP_NET_RAW", "CAP_SYS_ADMIN", "CAP_SYS_PTRACE"}) {
      EXPECT_THAT(texts(capabilities.get(set)), Not(Contains(beyond))) << set;
    }
  }
}

TEST_F(OciConfigTest, RootBringsOnlyMountsOfItsOwn) {
  const Value settings = config({}).get("linux");
  EXPECT_THAT(fields(settings.get("namespaces"), "type"), ElementsAre("mount"));
  EXPECT_FALSE(settings.has("uidMappings"));
  EXPECT_FALSE(settings.has("resources")) << "limits are inherited";
}

TEST_F(OciConfigTest, OrdinaryUserIsTheOnlyOneInTheContainer) {
  const Value all = config({.user = User{.uid = 1000, .gid = 100, .groups = {20}}}, kAlice);
  EXPECT_EQ(json::write(all.get({"process", "user"})), R"({"uid":0,"gid":0})");
  const Value settings = all.get("linux");
  EXPECT_THAT(fields(settings.get("namespaces"), "type"), ElementsAre("mount", "user"));
  EXPECT_EQ(json::write(settings.get("uidMappings")),
            R"([{"containerID":0,"hostID":1000,"size":1}])");
  EXPECT_EQ(json::write(settings.get("gidMappings")),
            R"([{"containerID":0,"hostID":100,"size":1}])");
}

TEST_F(OciConfigTest, VolumesComeAfterTheUsualMountsInTheirOrder) {
  const Value mounts = config({}, kRoot,
                              {{"/bundle/mounts/0", "/data", false},
                               {"/bundle/mounts/1", "/data/config", true},
                               {"/bundle/mounts/2", "/dev/termination-log", false}})
                           .get("mounts");
  EXPECT_THAT(fields(mounts, "destination"),
              ElementsAre("/proc", "/dev", "/dev/pts", "/dev/shm", "/sys", "/data", "/data/config",
                          "/dev/termination-log"));
  const Value data = mounts.item(5), settings = mounts.item(6);
  EXPECT_EQ(data.get("source").as_string(), "/bundle/mounts/0");
  EXPECT_THAT(texts(data.get("options")), ElementsAre("rbind", "rw", "rprivate"));
  EXPECT_THAT(texts(settings.get("options")), ElementsAre("rbind", "ro", "rprivate"));
  EXPECT_THAT(texts(mounts.item(4).get("options")), Contains("ro")) << "/sys is the machine's";
}

TEST_F(OciConfigTest, RootIsReadOnlyWhenAsked) {
  EXPECT_EQ(json::write(config({.read_only_root = true}).get("root")),
            R"({"path":"rootfs","readonly":true})");
  EXPECT_FALSE(config({}).get({"root", "readonly"}).as_bool());
}

TEST_F(OciConfigTest, TextIsKeptAsItIs) {
  const Value process = config({.argv = {"echo", "\"quoted\"\n", "größe"}}).get("process");
  EXPECT_THAT(texts(process.get("args")), ElementsAre("echo", "\"quoted\"\n", "größe"));
}

}  // namespace oci_config_test
}  // namespace muster::runtime
