#include "agent/inputs/volumes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "agent/inputs/files_testing.h"
#include "agent/inputs/testing.h"

namespace muster::agent {
namespace volumes_test {

namespace fs = std::filesystem;
using json::Tree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Volumes : public ::testing::Test {
 protected:
  Volumes() {
    root_.pod_directory = scratch_ / "pod";
    root_.policy.claims_directory = scratch_ / "claims";
    root_.policy.host_paths = {scratch_ / "host"};
    fs::create_directory(scratch_ / "pod");
    fs::create_directory(scratch_ / "host");
    objects_.config_maps["d/m"] = R"({"data":{"a":"1","b":"2"},"binaryData":{"c":"AAE="}})";
    objects_.secrets["d/s"] = R"({"data":{"k":"c2VjcmV0"}})";
    claim("c", "Bound");
  }
  ~Volumes() override { EXPECT_TRUE(remove_volumes(root_.pod_directory)); }

  void claim(const std::string& name, std::string_view phase, std::string_view metadata = "") {
    objects_.claims["d/" + name] = fmt::format(
        R"({{"metadata":{{"name":"{0}","uid":"00000000-0000-0000-0000-00000000000{0}"{2}}},)"
        R"("spec":{{"volumeName":"pvc-x"}},"status":{{"phase":"{1}"}}}})",
        name, phase, metadata);
  }
  static std::string pod(std::string_view volumes) {
    return R"({"metadata":{"name":"p","namespace":"d","uid":"u","labels":{"x":"y"}},"spec":{)"
           R"("containers":[{"name":"main","resources":{"limits":{"cpu":"2"}}}],"volumes":[)" +
           std::string(volumes) + "]}}";
  }
  // The error, or nothing.
  std::string set_up(std::string_view volumes) {
    const Tree tree(pod(volumes));
    const Status done = set_up_volumes(root_, tree, facts_, objects_);
    return done ? "" : done.error().message;
  }
  static gid_t group_of(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_gid;
  }
  std::string at(std::string_view name) const {
    return root_.pod_directory + "/volumes/" + std::string(name);
  }
  // Names in a volume without those of the layout.
  std::set<std::string> shown(std::string_view volume) const {
    auto names = names_in(at(volume));
    std::erase_if(names, [](const std::string& name) { return name.starts_with(".."); });
    return names;
  }
  // "source -> target [ro]" of the only mount, or the error.
  std::string mount(std::string_view volumes, std::string_view mounts,
                    const Variables& variables = {}) {
    const Tree tree(pod(volumes));
    const Tree container(R"({"name":"main","volumeMounts":[)" + std::string(mounts) + "]}");
    const auto made = mounts_of(root_, tree, container, variables, objects_);
    if (!made) return made.error().message;
    EXPECT_EQ(made->size(), 1u);
    return made->at(0).source + " -> " + made->at(0).target + (made->at(0).read_only ? " ro" : "");
  }

  Scratch scratch_;
  VolumeRoot root_;
  PodFacts facts_;
  FakeObjects objects_;
};

constexpr std::string_view kEmpty = R"({"name":"v","emptyDir":{}})";
constexpr std::string_view kMap = R"({"name":"v","configMap":{"name":"m"}})";

TEST_F(Volumes, AnEmptyDirIsForEveryoneAndKeepsItsContent) {
  const mode_t umask = ::umask(077);
  EXPECT_EQ(set_up(kEmpty), "");
  ::umask(umask);
  EXPECT_EQ(mode_of(at("v")), 0777u);
  write_file(at("v/f"), "x");
  EXPECT_EQ(set_up(kEmpty), "");
  EXPECT_EQ(read_file(at("v/f")), "x");
  EXPECT_EQ(set_up(R"({"name":"none"})"), "");
  EXPECT_TRUE(fs::is_directory(at("none")));
}

constexpr std::string_view kMemory =
    R"({"name":"v","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}})";

TEST_F(Volumes, AnEmptyDirInMemoryIsAnEmptyDir) {
  EXPECT_EQ(set_up(kMemory), "");
  EXPECT_EQ(mode_of(at("v")), 0777u);
  write_file(at("v/f"), "x");
  EXPECT_EQ(set_up(kMemory), "");
  EXPECT_EQ(read_file(at("v/f")), "x");
  EXPECT_TRUE(remove_volumes(root_.pod_directory));
  EXPECT_FALSE(fs::exists(at("v")));
}

// In a mount namespace of its own, from which mounts go on to others.
TEST_F(Volumes, AnEmptyDirInMemoryIsATmpfsWhereRootCanShowItToPods) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root mounts";
  const pid_t child = ::fork();
  if (child == 0) {
    struct statfs info{};
    const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                         ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
                         ::mount(nullptr, "/", nullptr, MS_REC | MS_SHARED, nullptr) == 0 &&
                         set_up(kMemory).empty() && set_up(kMemory).empty() &&
                         ::statfs(at("v").c_str(), &info) == 0 && info.f_type == TMPFS_MAGIC &&
                         mode_of(at("v")) == 0777 &&
                         info.f_blocks * static_cast<std::uint64_t>(info.f_bsize) == 1u << 20;
    write_file(at("v/f"), "x");
    ::_exit(mounted && remove_volumes(root_.pod_directory) && !fs::exists(at("v")) ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Volumes, AConfigMapHasAFilePerKey) {
  EXPECT_EQ(set_up(kMap), "");
  EXPECT_THAT(shown("v"), ElementsAre("a", "b", "c"));
  EXPECT_EQ(read_file(at("v/a")), "1");
  EXPECT_EQ(read_file(at("v/c")), std::string("\0\1", 2));
  EXPECT_EQ(mode_of(at("v/a")), 0644u);
}

TEST_F(Volumes, ItemsChooseKeysPathsAndModes) {
  EXPECT_EQ(set_up(R"({"name":"v","configMap":{"name":"m","defaultMode":288,"items":[
      {"key":"a","path":"x/y"},{"key":"c","path":"z","mode":256}]}})"),
            "");
  EXPECT_THAT(shown("v"), ElementsAre("x", "z"));
  EXPECT_EQ(read_file(at("v/x/y")), "1");
  EXPECT_EQ(mode_of(at("v/x/y")), 0440u);
  EXPECT_EQ(mode_of(at("v/z")), 0400u);
}

TEST_F(Volumes, SecretsAreDecoded) {
  EXPECT_EQ(set_up(R"({"name":"v","secret":{"secretName":"s","defaultMode":256}})"), "");
  EXPECT_EQ(read_file(at("v/k")), "secret");
  EXPECT_EQ(mode_of(at("v/k")), 0400u);
}

TEST_F(Volumes, FollowTheirObjects) {
  EXPECT_EQ(set_up(kMap), "");
  objects_.config_maps["d/m"] = R"({"data":{"a":"new"}})";
  EXPECT_EQ(set_up(kMap), "");
  EXPECT_THAT(shown("v"), ElementsAre("a"));
  EXPECT_EQ(read_file(at("v/a")), "new");
}

TEST_F(Volumes, TheDownwardApiTellsAboutThePod) {
  EXPECT_EQ(set_up(R"({"name":"v","downwardAPI":{"items":[
      {"path":"labels","fieldRef":{"fieldPath":"metadata.labels"}},
      {"path":"cpu","resourceFieldRef":{"containerName":"main","resource":"limits.cpu"},"mode":256}]}})"),
            "");
  EXPECT_EQ(read_file(at("v/labels")), "x=\"y\"");
  EXPECT_EQ(read_file(at("v/cpu")), "2");
  EXPECT_EQ(mode_of(at("v/cpu")), 0400u);
}

TEST_F(Volumes, ProjectionsMergeTheirSourcesAndTheLastWins) {
  root_.service_account_token = [](json::Value source) -> Result<std::string> {
    return "token for " + std::string(source.get("audience").as_string());
  };
  EXPECT_EQ(set_up(R"({"name":"v","projected":{"defaultMode":288,"sources":[
      {"serviceAccountToken":{"path":"token","audience":"x"}},
      {"configMap":{"name":"m","items":[{"key":"a","path":"same"},{"key":"b","path":"b"}]}},
      {"secret":{"name":"s","items":[{"key":"k","path":"same"}]}},
      {"downwardAPI":{"items":[{"path":"name","fieldRef":{"fieldPath":"metadata.name"}}]}}]}})"),
            "");
  EXPECT_THAT(shown("v"), ElementsAre("b", "name", "same", "token"));
  EXPECT_EQ(read_file(at("v/token")), "token for x");
  EXPECT_EQ(read_file(at("v/same")), "secret");
  EXPECT_EQ(read_file(at("v/name")), "p");
  EXPECT_EQ(mode_of(at("v/token")), 0440u);
}

struct Fault {
  std::string_view volume;
  std::string_view error;
};
class FaultyVolume : public Volumes, public ::testing::WithParamInterface<Fault> {};
TEST_P(FaultyVolume, IsNamedWithItsCause) {
  claim("w", "Pending");
  claim("g", "Bound", R"(,"deletionTimestamp":"2030-01-01T00:00:00Z")");
  EXPECT_EQ(set_up(GetParam().volume), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(
    Sources, FaultyVolume,
    ::testing::Values(
        Fault{R"({"name":"v","configMap":{"name":"no"}})",
              R"(MountVolume.SetUp failed for volume "v" : configmap "no" not found)"},
        Fault{R"({"name":"v","secret":{"secretName":"no"}})",
              R"(MountVolume.SetUp failed for volume "v" : secret "no" not found)"},
        Fault{
            R"({"name":"v","configMap":{"name":"m","items":[{"key":"z","path":"z"}]}})",
            R"(MountVolume.SetUp failed for volume "v" : configmap references non-existent config key: z)"},
        Fault{R"({"name":"v","secret":{"secretName":"s","items":[{"key":"z","path":"z"}]}})",
              R"(MountVolume.SetUp failed for volume "v" : references non-existent secret key: z)"},
        Fault{
            R"({"name":"v","configMap":{"name":"m","items":[{"key":"a","path":"../z"}]}})",
            R"(MountVolume.SetUp failed for volume "v" : invalid path: must not contain '..': ../z)"},
        Fault{
            R"({"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}})",
            R"(MountVolume.SetUp failed for volume "v" : there are no service account tokens here)"},
        Fault{
            R"({"name":"v","projected":{"sources":[{"clusterTrustBundle":{"path":"t"}}]}})",
            R"(MountVolume.SetUp failed for volume "v" : the process runtime cannot project a clusterTrustBundle)"},
        Fault{
            R"({"name":"v","nfs":{"server":"x"}})",
            R"(MountVolume.SetUp failed for volume "v" : the process runtime has no volumes of type nfs)"},
        Fault{R"({"name":"../v","emptyDir":{}})",
              R"(MountVolume.SetUp failed for volume "../v" : its name is no name of a folder)"},
        Fault{
            R"({"name":"v","hostPath":{"path":"/etc/../x"}})",
            R"(MountVolume.SetUp failed for volume "v" : invalid HostPath `/etc/../x`: must not contain '..')"},
        Fault{R"({"name":"v","persistentVolumeClaim":{"claimName":"w"}})",
              "Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], "
              "failed to process volumes=[v]: error processing PVC d/w: PVC is not bound"},
        Fault{R"({"name":"v","persistentVolumeClaim":{"claimName":"g"}})",
              "Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], "
              "failed to process volumes=[v]: error processing PVC d/g: PVC is being deleted"},
        Fault{
            R"({"name":"v","persistentVolumeClaim":{"claimName":"no"}},{"name":"x","persistentVolumeClaim":{"claimName":"w"}})",
            "Unable to attach or mount volumes: unmounted volumes=[v x], unattached volumes=[], "
            "failed to process volumes=[v x]: [error processing PVC d/no: failed to fetch PVC from "
            "API server: persistentvolumeclaims \"no\" not found, error processing PVC d/w: PVC is "
            "not bound]"}));

TEST_F(Volumes, WhatIsOptionalMayBeMissing) {
  EXPECT_EQ(set_up(R"({"name":"v","configMap":{"name":"no","optional":true}},
                      {"name":"w","secret":{"secretName":"s","optional":true,"items":[
                        {"key":"z","path":"z"},{"key":"k","path":"k"}]}})"),
            "");
  EXPECT_THAT(shown("v"), IsEmpty());
  EXPECT_THAT(shown("w"), ElementsAre("k"));
}

TEST_F(Volumes, AsRootFilesBelongToWhoRunsThePod) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  root_.user = {.uid = 1234, .gid = 1235, .groups = {}};
  EXPECT_EQ(set_up(R"({"name":"v","secret":{"secretName":"s","defaultMode":256}})"), "");
  struct stat info{};
  ASSERT_EQ(::stat(at("v/k").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 1234u);
  EXPECT_EQ(info.st_gid, 1235u);
}

TEST_F(Volumes, AsRootTheGroupOfThePodMayReadAndWrite) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const Tree tree(
      R"({"metadata":{"namespace":"d"},"spec":{"securityContext":{"fsGroup":77},"volumes":[
      {"name":"e","emptyDir":{}},{"name":"s","secret":{"secretName":"s","defaultMode":256}}]}})");
  ASSERT_TRUE(set_up_volumes(root_, tree, facts_, objects_));
  EXPECT_NE(group_of(at("e")), 77u) << "he is not in it";
  root_.user.groups = {77};
  objects_.secrets["d/s"] = R"({"data":{"k":"bmV3"}})";
  ASSERT_TRUE(set_up_volumes(root_, tree, facts_, objects_));
  struct stat info{};
  ASSERT_EQ(::stat(at("e").c_str(), &info), 0);
  EXPECT_EQ(info.st_gid, 77u);
  EXPECT_EQ(info.st_mode & 07777, 02777u);
  ASSERT_EQ(::stat(at("s/k").c_str(), &info), 0);
  EXPECT_EQ(info.st_gid, 77u);
  EXPECT_EQ(info.st_mode & 07777, 0440u);
}

TEST_F(Volumes, AreMountedWhereTheContainerWantsThem) {
  ASSERT_EQ(set_up(kEmpty), "");
  EXPECT_EQ(mount(kEmpty, R"({"name":"v","mountPath":"/data"})"), at("v") + " -> /data");
  EXPECT_EQ(mount(kEmpty, R"({"name":"v","mountPath":"data//x/","readOnly":true})"),
            at("v") + " -> /data/x ro");
  EXPECT_EQ(mount(kEmpty, R"({"name":"w","mountPath":"/data"})"),
            R"(cannot find volume "w" to mount into container "main")");
}

TEST_F(Volumes, MadeOfObjectsAreReadOnly) {
  ASSERT_EQ(set_up(kMap), "");
  EXPECT_EQ(mount(kMap, R"({"name":"v","mountPath":"/c"})"), at("v") + " -> /c ro");
}

TEST_F(Volumes, ASubPathOfAHostPathIsOnlyWhatThePodsUserCanReach) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has pods of other users";
  fs::permissions(scratch_.path(), fs::perms(0711));
  fs::create_directories(scratch_ / "host/closed/inner");
  fs::permissions(scratch_ / "host/closed", fs::perms(0700));
  root_.user = {.uid = 4242, .gid = 4242, .groups = {}};
  const std::string volume =
      fmt::format(R"({{"name":"v","hostPath":{{"path":"{}"}}}})", scratch_ / "host");
  ASSERT_EQ(set_up(volume), "");
  EXPECT_EQ(mount(volume, R"({"name":"v","mountPath":"/h"})"), (scratch_ / "host") + " -> /h");
  EXPECT_THAT(mount(volume, R"({"name":"v","mountPath":"/h","subPath":"closed/inner"})"),
              HasSubstr("closed/inner: Permission denied"));
  EXPECT_THAT(mount(volume, R"({"name":"v","mountPath":"/h","subPath":"new"})"),
              HasSubstr("new: Permission denied"));
}

TEST_F(Volumes, HostPathsAreTheMachinesOwnFiles) {
  const std::string volume =
      fmt::format(R"({{"name":"v","hostPath":{{"path":"{}","type":"DirectoryOrCreate"}}}})",
                  scratch_ / "host/new");
  ASSERT_EQ(set_up(volume), "");
  EXPECT_EQ(mount(volume, R"({"name":"v","mountPath":"/h"})"), (scratch_ / "host/new") + " -> /h");
  EXPECT_EQ(mount(volume, R"({"name":"v","mountPath":"/h","subPath":"s"})"),
            (scratch_ / "host/new/s") + " -> /h");
  EXPECT_THAT(set_up(R"({"name":"v","hostPath":{"path":"/etc"}})"), HasSubstr("is not allowed"));
  EXPECT_TRUE(remove_volumes(root_.pod_directory));
  EXPECT_TRUE(fs::exists(scratch_ / "host/new/s"));
}

constexpr std::string_view kClaim = R"({"name":"v","persistentVolumeClaim":{"claimName":"c"}})";

TEST_F(Volumes, AClaimKeepsItsDataWhoeverComesNext) {
  const std::string place = scratch_ / "claims/d/c-00000000-0000-0000-0000-00000000000c";
  ASSERT_EQ(set_up(kClaim), "");
  EXPECT_EQ(mode_of(place), 0777u);
  EXPECT_EQ(mount(kClaim, R"({"name":"v","mountPath":"/m"})"), place + " -> /m");
  write_file(place + "/model", "weights");
  EXPECT_TRUE(remove_volumes(root_.pod_directory));
  ASSERT_EQ(set_up(kClaim), "");
  EXPECT_EQ(read_file(place + "/model"), "weights");
  EXPECT_EQ(mount(R"({"name":"v","persistentVolumeClaim":{"claimName":"c","readOnly":true}})",
                  R"({"name":"v","mountPath":"/m"})"),
            place + " -> /m ro");
}

// Another user has the claim tomorrow, where JobSets have their own.
TEST_F(Volumes, WhatIsMadeInAClaimOfRootsServerIsOpenToWhomeverHasTheClaim) {
  const fs::path place = scratch_ / "claims/d/c-00000000-0000-0000-0000-00000000000c";
  ASSERT_EQ(set_up(kClaim), "");
  if (::geteuid() != 0) GTEST_SKIP() << "all pods have one user";
  const bool has_lists =
      ::getxattr(place.c_str(), "system.posix_acl_default", nullptr, 0) >= 0 || errno == ENODATA;
  if (!has_lists) GTEST_SKIP() << "the file system has no such lists";
  const mode_t before = ::umask(022);
  fs::create_directory(place / "deep");
  write_file(place / "deep/file", "x");
  const UniqueFd own(::open((place / "own").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  ::umask(before);
  EXPECT_EQ(mode_of(place / "deep"), 0777u);
  EXPECT_EQ(mode_of(place / "deep/file"), 0666u);
  EXPECT_EQ(mode_of(place / "own"), 0600u) << "who wants less gets it";
}

TEST_F(Volumes, NobodyElseCanGoToTheFoldersThemselves) {
  ASSERT_EQ(set_up(kClaim), "");
  for (const std::string& folder : {root_.pod_directory, root_.policy.claims_directory}) {
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all) << folder;
  }
}

TEST_F(Volumes, AClaimThatIsBeingDeletedStaysWithThoseWhoHaveIt) {
  ASSERT_EQ(set_up(kClaim), "");
  claim("c", "Bound", R"(,"deletionTimestamp":"2030-01-01T00:00:00Z")");
  EXPECT_EQ(set_up(kClaim), "");
  EXPECT_THAT(mount(kClaim, R"({"name":"v","mountPath":"/m"})"), HasSubstr(" -> /m"));
  EXPECT_TRUE(remove_volumes(root_.pod_directory));
  EXPECT_THAT(set_up(kClaim), HasSubstr("PVC is being deleted"));
}

TEST_F(Volumes, DataOfClaimsThatAreGoneGoes) {
  ASSERT_EQ(set_up(kClaim), "");
  claim("e", "Bound");
  ASSERT_EQ(set_up(R"({"name":"v","persistentVolumeClaim":{"claimName":"e"}})"), "");
  fs::create_directories(scratch_ / "claims/d/somebody's own");
  fs::create_directories(scratch_ / "claims/gone/x-00000000-0000-0000-0000-000000000009/deep");
  const std::string claims = scratch_ / "claims";
  fs::create_directories(scratch_ / "claims/d/.removed-1");
  const auto others = data_of_other_claims(claims, {"00000000-0000-0000-0000-00000000000c"});
  EXPECT_THAT(others,
              UnorderedElementsAre(claims + "/d/e-00000000-0000-0000-0000-00000000000e",
                                   claims + "/d/.removed-1",
                                   claims + "/gone/x-00000000-0000-0000-0000-000000000009"));
  for (const std::string& folder : others) EXPECT_TRUE(remove_claim_data(folder));
  EXPECT_THAT(names_in(claims), ElementsAre("d"));
  EXPECT_THAT(names_in(claims + "/d"),
              ElementsAre("c-00000000-0000-0000-0000-00000000000c", "somebody's own"));
  EXPECT_THAT(data_of_other_claims(scratch_ / "never made", {}), IsEmpty());
  EXPECT_TRUE(remove_claim_data(claims + "/gone/x-00000000-0000-0000-0000-000000000009"));
}

TEST_F(Volumes, SubPathsAreMadeLikeTheirVolume) {
  ASSERT_EQ(set_up(kEmpty), "");
  EXPECT_EQ(mount(kEmpty, R"({"name":"v","mountPath":"/m","subPath":"a/b/"})"),
            at("v/a/b") + " -> /m");
  EXPECT_EQ(mode_of(at("v/a/b")), 0777u);
  EXPECT_EQ(mount(kEmpty, R"({"name":"v","mountPath":"/m","subPath":"./"})"), at("v") + " -> /m");
  write_file(at("v/file"), "x");
  EXPECT_EQ(mount(kEmpty, R"({"name":"v","mountPath":"/m","subPath":"file"})"),
            at("v/file") + " -> /m");
}

TEST_F(Volumes, SubPathsMayBeMadeOfVariables) {
  ASSERT_EQ(set_up(kEmpty), "");
  const Variables variables = {{"POD", "p-0"}, {"UP", ".."}, {"EMPTY", ""}};
  const auto expression = [&](std::string_view text) {
    return mount(kEmpty, fmt::format(R"({{"name":"v","mountPath":"/m","subPathExpr":"{}"}})", text),
                 variables);
  };
  EXPECT_EQ(expression("logs/$(POD)"), at("v/logs/p-0") + " -> /m");
  EXPECT_EQ(expression("$(NO)/$(EMPTY)"), "missing value for EMPTY, NO");
  EXPECT_EQ(expression("$(UP)/x"), "unable to provision SubPath `../x`: must not contain '..'");
}

TEST_F(Volumes, SubPathsNeverLeaveTheirVolume) {
  ASSERT_EQ(set_up(kEmpty), "");
  fs::create_directory_symlink(scratch_.path(), at("v/out"));
  fs::create_directory_symlink(".", at("v/in"));
  const auto sub_path = [&](std::string_view text) {
    return mount(kEmpty, fmt::format(R"({{"name":"v","mountPath":"/m","subPath":"{}"}})", text));
  };
  EXPECT_EQ(sub_path("/etc"), "error SubPath `/etc` must not be an absolute path");
  EXPECT_EQ(sub_path("a/../.."), "unable to provision SubPath `a/../..`: must not contain '..'");
  for (const char* path : {"out", "out/host", "in", "in/x", "out/new"})
    EXPECT_THAT(
        sub_path(path),
        HasSubstr(R"(failed to prepare subPath for volumeMount "v" of container "main": )"));
  EXPECT_FALSE(fs::exists(scratch_ / "new"));
}

TEST_F(Volumes, ASubPathOfAConfigMapIsItsFile) {
  ASSERT_EQ(set_up(kMap), "");
  const std::string version = fs::read_symlink(at("v/..data"));
  EXPECT_EQ(mount(kMap, R"({"name":"v","mountPath":"/etc/app.conf","subPath":"a"})"),
            at("v/") + version + "/a -> /etc/app.conf ro");
  EXPECT_THAT(mount(kMap, R"({"name":"v","mountPath":"/x","subPath":"none"})"),
              HasSubstr(version + "/none -> /x ro"));
  ASSERT_EQ(set_up(kMap), "");
  EXPECT_EQ(fs::read_symlink(at("v/..data")), version);
}

TEST_F(Volumes, RemovalTakesEverythingButFollowsNothing) {
  ASSERT_EQ(set_up(std::string(kEmpty) + R"(,{"name":"m","configMap":{"name":"m"}})"), "");
  fs::create_directory_symlink(scratch_ / "host", at("v/link"));
  write_file(scratch_ / "host/precious", "x");
  fs::create_directories(at("v/a/b/c"));
  ASSERT_EQ(::chmod(at("v/a/b").c_str(), 0), 0);
  fs::create_directories(root_.pod_directory + "/.removed-1-1/half");
  write_file(root_.pod_directory + "/other", "not a volume");
  ASSERT_TRUE(remove_volumes(root_.pod_directory));
  EXPECT_THAT(names_in(root_.pod_directory), ElementsAre("other"));
  EXPECT_TRUE(fs::exists(scratch_ / "host/precious"));
  EXPECT_TRUE(remove_volumes(root_.pod_directory));
  EXPECT_TRUE(remove_volumes(scratch_ / "no such pod"));
}

}  // namespace volumes_test
}  // namespace muster::agent
