#include "agent/inputs/volumes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "agent/inputs/host_path.h"
#include "agent/inputs/volume_payload.h"
#include "agent/inputs/volume_places.h"
#include "api/values/quantity.h"
#include "base/clock.h"
#include "base/contained_path.h"
#include "base/errno_error.h"

namespace muster::agent {
namespace {

namespace fs = std::filesystem;
using json::Value;

constexpr mode_t kForEveryone = 0777;

// Entries of an access control list as the kernel has them: of the owner, the group and others.
struct AclEntry {
  std::uint16_t tag;
  std::uint16_t rights = 7;
  std::uint32_t id = ~0U;
};
struct Acl {
  std::uint32_t version = 2;
  AclEntry entries[3] = {{.tag = 0x01}, {.tag = 0x04}, {.tag = 0x20}};
};
static_assert(std::endian::native == std::endian::little && sizeof(Acl) == 28);

// JobSets that use a claim one after the other have different users. The default access control
// list makes new files readable and writable for all of them, whatever the umask of the program; a
// program that asks for a narrower mode gets it. File systems without such lists are left as they
// are.
void open_to_later_users(const UniqueFd& folder) {
  const Acl acl;
  ::setxattr(path_of(folder).c_str(), "system.posix_acl_default", &acl, sizeof acl, 0);
}

bool is_root() { return ::geteuid() == 0; }

Status make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return fail(Code::kInternal, fmt::format("{}: {}", path, error.message()));
  return {};
}

// A pod sees its volumes as mounts; on the way to the folders themselves nobody else has business.
Status make_closed_folder(const std::string& path) {
  MUSTER_CHECK(make_folder(path));
  if (::chmod(path.c_str(), 0700) == 0) return {};
  return fail(Code::kInternal, fmt::format("{}: {}", path, std::strerror(errno)));
}

std::int64_t bytes_of(Value quantity) {
  const auto parsed = api::Quantity::read(quantity);
  return parsed ? parsed->value() : 0;
}

// Whether pods, in mount namespaces that were made long before, would see what is mounted there.
bool passes_mounts_on(const UniqueFd& folder) {
  struct statx info{};
  if (::statx(folder.get(), "", AT_EMPTY_PATH, STATX_MNT_ID, &info) != 0) return false;
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    if (line.starts_with(fmt::format("{} ", info.stx_mnt_id)))
      return line.find(" shared:") != line.npos;
  }
  return false;
}

// In memory where we may mount; else on disk, which only is slower.
void mount_in_memory(const UniqueFd& folder, Value empty_dir, const PodFacts& facts) {
  struct statfs info{};
  std::error_code error;
  if (!is_root() || ::fstatfs(folder.get(), &info) != 0 || info.f_type == TMPFS_MAGIC ||
      !fs::is_empty(path_of(folder), error) || !passes_mounts_on(folder))
    return;
  std::string options = "mode=0777";
  const std::int64_t limit = bytes_of(empty_dir.get("sizeLimit"));
  const std::int64_t node = bytes_of(facts.node_allocatable.get("memory"));
  const std::int64_t size = limit > 0 && node > 0 ? std::min(limit, node) : std::max(limit, node);
  if (size > 0) options += fmt::format(",size={}", size);
  ::mount("tmpfs", path_of(folder).c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str());
}

// Makes the volumes of one pod.
class SetUp {
 public:
  SetUp(const VolumeRoot& root, Value pod, const PodFacts& facts, const Objects& objects)
      : root_(root), pod_(pod), facts_(facts), objects_(objects) {
    const Value group = pod.get({"spec", "securityContext", "fsGroup"});
    if (!is_root()) return;
    ownership_ = {.user = root.user.uid, .group = root.user.gid};
    if (group.is_number()) fs_group_ = static_cast<gid_t>(group.as_int());
    // One that the policy has not given him does not count.
    if (fs_group_ && !root.user.has_group(*fs_group_)) fs_group_.reset();
    if (fs_group_) ownership_.group = fs_group_;
  }

  Status run() {
    MUSTER_CHECK(make_closed_folder(root_.pod_directory));
    MUSTER_CHECK(make_folder(volumes_folder(root_)));
    MUSTER_TRY(volumes_, open_folder(volumes_folder(root_)));
    std::vector<std::string> failed;
    std::vector<std::string> causes;
    for (const Value volume : pod_.get({"spec", "volumes"}).items()) {
      const std::string name(volume.get("name").as_string());
      Status done = is_folder_name(name) ? set_up(name, volume)
                                         : fail(Code::kInvalid, "its name is no name of a folder");
      if (done) continue;
      if (!volume.has("persistentVolumeClaim"))
        return fail(done.error().code,
                    fmt::format("MountVolume.SetUp failed for volume \"{}\" : {}", name,
                                done.error().message));
      failed.push_back(name);
      causes.push_back(done.error().message);
    }
    if (failed.empty()) return {};
    return fail(
        Code::kUnavailable,
        fmt::format("Unable to attach or mount volumes: unmounted volumes=[{0}], unattached "
                    "volumes=[], failed to process volumes=[{0}]: {1}",
                    fmt::join(failed, " "),
                    causes.size() == 1 ? causes[0] : fmt::format("[{}]", fmt::join(causes, ", "))));
  }

 private:
  Status set_up(const std::string& name, Value volume) {
    if (volume.has("emptyDir")) return set_up_empty(name, volume.get("emptyDir"));
    if (is_made_of_objects(volume)) return set_up_objects(name, volume);
    if (const Value path = volume.get("hostPath"); !path.is_null())
      return prepare_host_path(host_path_rights(root_), std::string(path.get("path").as_string()),
                               path.get("type").as_string());
    if (volume.has("persistentVolumeClaim")) return set_up_claim(name, volume);
    for (const auto& [kind, value] : volume.members()) {
      if (kind != "name" && !value.is_null())
        return fail(Code::kInvalid,
                    fmt::format("the process runtime has no volumes of type {}", kind));
    }
    return set_up_empty(name, {});  // a volume of no type is an emptyDir
  }

  Status set_up_empty(const std::string& name, Value empty_dir) {
    MUSTER_TRY(UniqueFd folder, make_folders_beneath(volumes_.get(), name, kForEveryone));
    if (empty_dir.get("medium").as_string() == "Memory") {
      mount_in_memory(folder, empty_dir, facts_);
      MUSTER_TRY(folder, open_beneath(volumes_.get(), name));  // what is on top now
    }
    const UniqueFd writable(::open(path_of(folder).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (is_root() && ::fchown(writable.get(), root_.user.uid, root_.user.gid) != 0)
      return errno_error("the volume's owner");
    if (!fs_group_) return {};
    if (::fchown(writable.get(), static_cast<uid_t>(-1), *fs_group_) != 0 ||
        ::fchmod(writable.get(), kForEveryone | S_ISGID) != 0)
      return errno_error("fsGroup");
    return {};
  }

  Status set_up_objects(const std::string& name, Value volume) {
    MUSTER_TRY(Payload payload,
               payload_of(volume, {.pod = pod_,
                                   .facts = facts_,
                                   .objects = objects_,
                                   .service_account_token = root_.service_account_token,
                                   .room = room_}));
    if (fs_group_) {
      for (auto& [path, content] : payload) content.mode |= 0440;
    }
    MUSTER_TRY(const UniqueFd folder, make_folders_beneath(volumes_.get(), name, 0755));
    return write_payload(path_of(folder), payload, ownership_, real_clock());
  }

  // An empty folder among the pod's own volumes says that it has the claim.
  Status set_up_claim(const std::string& name, Value volume) {
    const bool has_it = open_beneath(volumes_.get(), name).has_value();
    MUSTER_TRY(const std::string place, claim_folder(pod_, volume, objects_, has_it));
    MUSTER_CHECK(make_closed_folder(root_.policy.claims_directory));
    MUSTER_TRY(const UniqueFd claims, open_folder(root_.policy.claims_directory));
    MUSTER_TRY(const UniqueFd ns,
               make_folders_beneath(claims.get(), place.substr(0, place.find('/')), 0755));
    MUSTER_TRY(const UniqueFd made,
               make_folders_beneath(ns.get(), place.substr(place.find('/') + 1), kForEveryone));
    if (is_root()) open_to_later_users(made);
    MUSTER_TRY(const UniqueFd own, make_folders_beneath(volumes_.get(), name, 0755));
    return {};
  }

  const VolumeRoot& root_;
  Value pod_;
  const PodFacts& facts_;
  const Objects& objects_;
  Ownership ownership_;
  std::optional<gid_t> fs_group_;
  UniqueFd volumes_;
  PayloadRoom room_;
};

// What an earlier removal did not finish.
constexpr std::string_view kHalfRemoved = ".removed-";

std::vector<std::string> names_in(const UniqueFd& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(path_of(folder), error), end; !error && at != end;
       at.increment(error))
    names.push_back(at->path().filename());
  return names;
}

// Volumes in memory. Nothing else is ever mounted there.
void unmount_all(const UniqueFd& volumes) {
  struct stat own{};
  struct stat info{};
  if (::fstat(volumes.get(), &own) != 0) return;
  for (const std::string& name : names_in(volumes)) {
    if (::fstatat(volumes.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        info.st_dev != own.st_dev)
      ::umount2((path_of(volumes) + "/" + name).c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  }
}

}  // namespace

Status set_up_volumes(const VolumeRoot& root, Value pod, const PodFacts& facts,
                      const Objects& objects) {
  return SetUp(root, pod, facts, objects).run();
}

Status remove_volumes(const std::string& pod_directory) {
  const auto pod = open_folder(pod_directory);
  if (!pod) return pod.error().code == Code::kNotFound ? Status() : std::unexpected(pod.error());
  if (const auto volumes = open_beneath(pod->get(), "volumes")) unmount_all(*volumes);
  for (const std::string& name : names_in(*pod)) {
    if (name == "volumes" || name.starts_with(kHalfRemoved))
      MUSTER_CHECK(remove_beneath(pod->get(), name));
  }
  return {};
}

std::vector<std::string> data_of_other_claims(const std::string& claims_directory,
                                              const std::set<std::string, std::less<>>& uids) {
  constexpr std::size_t kUid = 36;
  std::vector<std::string> found;
  const auto claims = open_folder(claims_directory);
  if (!claims) return found;  // nobody had a claim yet
  for (const std::string& ns : names_in(*claims)) {
    const auto folder = open_beneath(claims->get(), ns);
    if (!folder) continue;
    for (const std::string& name : names_in(*folder)) {
      const bool is_claim = name.size() > kUid + 1 && name[name.size() - kUid - 1] == '-';
      // What is not named like a claim's data is not ours.
      if (is_claim ? !uids.contains(name.substr(name.size() - kUid))
                   : name.starts_with(kHalfRemoved))
        found.push_back(fmt::format("{}/{}/{}", claims_directory, ns, name));
    }
  }
  return found;
}

Status remove_claim_data(const std::string& folder) {
  const fs::path path(folder);
  const auto ns = open_folder(path.parent_path());
  if (!ns) return ns.error().code == Code::kNotFound ? Status() : std::unexpected(ns.error());
  MUSTER_CHECK(remove_beneath(ns->get(), path.filename()));
  ::rmdir(path.parent_path().c_str());  // if it is empty now
  return {};
}

}  // namespace muster::agent
