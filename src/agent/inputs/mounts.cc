// What a container sees of its pod's volumes.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "agent/inputs/atomic_writer.h"
#include "agent/inputs/expand.h"
#include "agent/inputs/volume_payload.h"
#include "agent/inputs/volume_places.h"
#include "agent/inputs/volumes.h"
#include "base/contained_path.h"
#include "runtime/borrowed_rights.h"

namespace muster::agent {
namespace {

namespace fs = std::filesystem;
using json::Value;

// Without "//", "/./" and a slash at the end; empty for the volume itself.
std::string cleaned(std::string_view path) {
  std::string clean = fs::path(path).lexically_normal();
  while (clean.size() > 1 && clean.ends_with('/')) clean.pop_back();
  return clean == "." ? "" : clean;
}

Result<std::string> sub_path_of(Value mount, const Variables& variables) {
  std::string path(mount.get("subPath").as_string());
  const std::string_view expression = mount.get("subPathExpr").as_string();
  if (!expression.empty()) {
    MUSTER_TRY(path, expand_all(expression, variables));
  }
  if (path.starts_with('/'))
    return fail(Code::kInvalid,
                fmt::format("error SubPath `{}` must not be an absolute path", path));
  const fs::path parts(path);
  if (std::ranges::find(parts, "..") != parts.end())
    return fail(Code::kInvalid,
                fmt::format("unable to provision SubPath `{}`: must not contain '..'", path));
  return cleaned(path);
}

// The place below the volume, which is made as a folder of the volume's own mode if it is missing.
// The volume's own path is canonical: where it has a link now, somebody has just put one.
Result<std::string> below(const std::string& volume, const std::string& path) {
  MUSTER_TRY(const UniqueFd root, open_beneath("/", std::string_view(volume).substr(1)));
  const auto found = open_beneath(root.get(), path);
  if (!found && found.error().code != Code::kNotFound) return std::unexpected(found.error());
  if (!found) {
    struct stat info{};
    MUSTER_ASSERT(::fstat(root.get(), &info) == 0, "what is open has a mode");
    MUSTER_TRY(const UniqueFd made, make_folders_beneath(root.get(), path, info.st_mode & 07777));
  }
  return volume == "/" ? volume + path : volume + "/" + path;
}

class Mounts {
 public:
  Mounts(const VolumeRoot& root, Value pod, Value container, const Variables& variables,
         const Objects& objects)
      : root_(root), pod_(pod), container_(container), variables_(variables), objects_(objects) {
    for (const Value volume : pod.get({"spec", "volumes"}).items())
      volumes_.emplace(volume.get("name").as_string(), volume);
  }

  Result<runtime::Mount> make(Value mount) const {
    const std::string_view name = mount.get("name").as_string();
    const auto named = volumes_.find(name);
    if (named == volumes_.end())
      return fail(Code::kInvalid, fmt::format("cannot find volume \"{}\" to mount into container "
                                              "\"{}\"",
                                              name, container_.get("name").as_string()));
    const Value volume = named->second;
    MUSTER_TRY(std::string source, place_of(root_, pod_, volume, objects_));
    MUSTER_TRY(const std::string path, sub_path_of(mount, variables_));
    if (!path.empty()) {
      MUSTER_TRY(source, source_below(source, path, volume));
    }
    return runtime::Mount{.source = std::move(source),
                          .target = cleaned("/" + std::string(mount.get("mountPath").as_string())),
                          .read_only = mount.get("readOnly").as_bool() ||
                                       is_made_of_objects(volume) ||
                                       volume.get({"persistentVolumeClaim", "readOnly"}).as_bool(),
                          .as_user = volume.has("hostPath")};
  }

 private:
  // Names in a volume made of objects are links to its present version: the mount stays with that
  // one, as everywhere.
  Result<std::string> source_below(const std::string& source, const std::string& path,
                                   Value volume) const {
    Result<std::string> place = fail(Code::kInternal, "");
    if (is_made_of_objects(volume)) {
      const auto version = current_payload(source);
      place = version ? below(source + "/" + *version, path) : version;
    } else if (volume.has("hostPath")) {
      place = below_as_user(source, path);
    } else {
      place = below(source, path);
    }
    if (place) return place;
    return fail(place.error().code,
                fmt::format("failed to prepare subPath for volumeMount \"{}\" of container \"{}\": "
                            "{}",
                            volume.get("name").as_string(), container_.get("name").as_string(),
                            place.error().message));
  }

  Result<std::string> below_as_user(const std::string& source, const std::string& path) const {
    const runtime::BorrowedRights borrowed(root_.user);
    MUSTER_CHECK(borrowed.status());
    return below(source, path);
  }

  const VolumeRoot& root_;
  Value pod_;
  Value container_;
  const Variables& variables_;
  const Objects& objects_;
  // By name: a container with thousands of mounts is not to search thousands of volumes for each.
  std::unordered_map<std::string_view, Value> volumes_;
};

}  // namespace

Result<std::vector<runtime::Mount>> mounts_of(const VolumeRoot& root, Value pod, Value container,
                                              const Variables& variables, const Objects& objects) {
  const Mounts mounts(root, pod, container, variables, objects);
  std::vector<runtime::Mount> made;
  for (const Value mount : container.get("volumeMounts").items()) {
    MUSTER_TRY(runtime::Mount each, mounts.make(mount));
    made.push_back(std::move(each));
  }
  return made;
}

}  // namespace muster::agent
