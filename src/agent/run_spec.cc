#include "agent/run_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "api/values/quantity.h"

namespace muster::agent {
namespace {

using json::Value;

std::optional<std::int64_t> amount(Value limit, bool milli) {
  if (limit.is_null()) return std::nullopt;
  const auto quantity = api::Quantity::read(limit);
  if (!quantity) return std::nullopt;
  return milli ? quantity->milli_value() : quantity->value();
}

// The image's user counts where containers may choose theirs and this one does not. Root is
// nobody's by default.
void take_user_of(const Image& image, Value pod, Value container, const Identity& identity,
                  runtime::User& user) {
  const bool chosen = container.get({"securityContext", "runAsUser"}).is_number() ||
                      pod.get({"spec", "securityContext", "runAsUser"}).is_number();
  if (identity.uid != 0 || !identity.any_user || chosen) return;
  if (image.user && image.user->uid != 0) user = *image.user;
}

bool covers(const runtime::Mount& mount, std::string_view path) {
  return path == mount.target || mount.target == "/" ||
         (path.starts_with(mount.target) && path.substr(mount.target.size()).starts_with('/'));
}

// What the container itself wants in such a place counts.
void add_folders(const std::vector<runtime::Mount>& folders, runtime::RunSpec& spec) {
  const std::size_t own = spec.mounts.size();
  for (runtime::Mount folder : folders) {
    const auto above = [&](const runtime::Mount& each) { return covers(each, folder.target); };
    if (std::ranges::any_of(std::span(spec.mounts).first(own), above)) continue;
    folder.read_only = spec.read_only_root;
    spec.mounts.push_back(std::move(folder));
  }
}

}  // namespace

Result<runtime::RunSpec> make_run_spec(const RunRequest& request, const PodFacts& facts,
                                       const Objects& objects, const VolumeRoot& root,
                                       const Identity& identity) {
  const Value pod = request.pod, container = request.container;
  MUSTER_TRY(runtime::User user, user_of(pod, container, identity));
  PodFacts own = facts;
  own.image = request.image;
  if (own.image != nullptr) {
    take_user_of(*own.image, pod, container, identity, user);
    own.inherited.push_back(fmt::format("PATH={}", runtime::kDefaultPath));
  } else {
    std::ranges::copy(surroundings(identity, user), std::back_inserter(own.inherited));
  }
  MUSTER_TRY(CommandLine line, command_line(pod, container, own, objects));
  VolumeRoot seen = root;
  seen.user = user;
  runtime::RunSpec spec;
  MUSTER_TRY(spec.mounts, mounts_of(seen, pod, container, line.variables, objects));
  auto program = program_mount(identity, user);
  if (program && request.image == nullptr) spec.mounts.push_back(*std::move(program));
  spec.user = user;
  if (user.uid == identity.pod_user.uid) spec.user_processes = request.user_processes;
  spec.container = container.get("name").as_string();
  spec.number = request.number;
  spec.argv = std::move(line.argv);
  spec.environment = std::move(line.environment);
  spec.working_directory = std::move(line.working_directory);
  const Value limits = container.get({"resources", "limits"});
  spec.limits.cpu_millis = amount(limits.get("cpu"), true);
  spec.limits.memory_bytes = amount(limits.get("memory"), false);
  spec.read_only_root = container.get({"securityContext", "readOnlyRootFilesystem"}).as_bool();
  if (request.image == nullptr) add_folders(request.folders, spec);
  spec.log_file = request.log_file;
  spec.termination_log = request.message_file;
  const std::string_view path = container.get("terminationMessagePath").as_string();
  spec.termination_log_path = path.empty() ? "/dev/termination-log" : path;
  spec.gate = request.gate;
  if (request.image != nullptr) {
    spec.rootfs = request.image->rootfs;
    spec.oci_program = request.oci_program;
  }
  return spec;
}

}  // namespace muster::agent
