#include "agent/inputs/volume_places.h"

#include <fmt/format.h>

#include <filesystem>

#include "agent/inputs/host_path.h"
#include "base/contained_path.h"

namespace muster::agent {
namespace {

using json::Value;

Result<std::string> canonical(const std::string& path) {
  std::error_code error;
  std::string found = std::filesystem::canonical(path, error);
  if (error) return fail(Code::kInternal, fmt::format("{}: {}", path, error.message()));
  return found;
}

}  // namespace

bool is_folder_name(std::string_view name) {
  return is_plain_path(name) && name.find('/') == name.npos;
}

HostPathRights host_path_rights(const VolumeRoot& root) {
  return {.prefixes = root.policy.host_paths, .user = root.user, .closed = root.policy.closed};
}

std::string volumes_folder(const VolumeRoot& root) { return root.pod_directory + "/volumes"; }

Result<std::string> claim_folder(Value pod, Value volume, const Objects& objects, bool has_it) {
  const std::string_view ns = pod.get({"metadata", "namespace"}).as_string();
  const std::string_view name = volume.get({"persistentVolumeClaim", "claimName"}).as_string();
  const auto wrong = [&](std::string_view why) {
    return fail(Code::kUnavailable, fmt::format("error processing PVC {}/{}: {}", ns, name, why));
  };
  const Value claim = objects.volume_claim(ns, name);
  if (claim.is_null())
    return wrong(
        fmt::format("failed to fetch PVC from API server: persistentvolumeclaims \"{}\" "
                    "not found",
                    name));
  if (!has_it && !claim.get({"metadata", "deletionTimestamp"}).is_null())
    return wrong("PVC is being deleted");
  if (claim.get({"status", "phase"}).as_string() != "Bound") return wrong("PVC is not bound");
  if (claim.get({"spec", "volumeName"}).as_string().empty())
    return wrong("PVC has empty pvc.Spec.VolumeName");
  if (claim.get({"spec", "volumeMode"}).as_string() == "Block")
    return wrong("the process runtime has no block volumes");
  const std::string folder = fmt::format("{}-{}", name, claim.get({"metadata", "uid"}).as_string());
  if (!is_folder_name(ns) || !is_folder_name(folder))
    return wrong("its name is no name of a folder");
  return fmt::format("{}/{}", ns, folder);
}

Result<std::string> place_of(const VolumeRoot& root, Value pod, Value volume,
                             const Objects& objects) {
  if (volume.has("hostPath"))
    return allowed_host_path(host_path_rights(root),
                             std::string(volume.get({"hostPath", "path"}).as_string()));
  if (volume.has("persistentVolumeClaim")) {
    MUSTER_TRY(const std::string folder, claim_folder(pod, volume, objects, true));
    MUSTER_TRY(const std::string claims, canonical(root.policy.claims_directory));
    return claims + "/" + folder;
  }
  MUSTER_TRY(const std::string volumes, canonical(volumes_folder(root)));
  return fmt::format("{}/{}", volumes, volume.get("name").as_string());
}

}  // namespace muster::agent
