#include "cli/input/node_flags.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "base/number.h"
#include "base/terminal_text.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kMaxNodes = 1000;  // of one machine: each has a lease to renew

struct Pair {
  std::string key;
  std::string value;
};

Result<Pair> parse_pair(std::string_view flag, std::string_view text) {
  const std::size_t equal = text.find('=');
  if (equal == text.npos || equal == 0)
    return fail(Code::kInvalid, fmt::format("{} {}: it takes KEY=VALUE", flag, plain_text(text)));
  return Pair{std::string(text.substr(0, equal)), std::string(text.substr(equal + 1))};
}

Result<std::int64_t> parse_amount(std::string_view text) {
  const auto amount = parse_number<std::int64_t>(text);
  if (!amount || *amount < 0)
    return fail(Code::kInvalid,
                fmt::format("--node-resource: \"{}\" is no whole number", plain_text(text)));
  return *amount;
}

// [IMAGE=]DIR. Names of images have no '='; paths that do are written with an image before them.
Status add_root_folder(agent::Images& images, const std::string& text) {
  const std::size_t equal = text.find('=');
  const std::string image = equal == text.npos ? "" : text.substr(0, equal);
  std::string folder = equal == text.npos ? text : text.substr(equal + 1);
  if (folder.empty() || (equal != text.npos && image.empty()))
    return fail(Code::kInvalid, fmt::format("--rootfs {}: it takes [IMAGE=]DIR", plain_text(text)));
  std::string& place = image.empty() ? images.other : images.folders[image];
  if (!place.empty())
    return fail(Code::kInvalid,
                fmt::format("--rootfs {}: there is one for {} already", plain_text(text),
                            image.empty() ? "all images" : plain_text(image)));
  std::error_code unknown;  // of the working directory; the path stays as it is then
  const auto absolute = std::filesystem::absolute(folder, unknown);
  place = unknown ? std::move(folder) : absolute.lexically_normal().string();
  return {};
}

Result<agent::UserRange> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number<std::uint32_t>(text.substr(0, dash));
  const auto last =
      dash == text.npos ? std::nullopt : parse_number<std::uint32_t>(text.substr(dash + 1));
  // The last number means "no user" to the kernel.
  if (!first || !last || *first == 0 || *first > *last ||
      *last == std::numeric_limits<std::uint32_t>::max())
    return fail(Code::kInvalid,
                fmt::format("--pod-users {}: it takes none or FIRST-LAST, two numbers of users but "
                            "root's",
                            plain_text(text)));
  return agent::UserRange{.first = *first, .last = *last};
}

Status add_images(engine::PodPolicy& policy, const NodeFlags& flags) {
  if (!flags.has_images()) {
    if (flags.root_folders.empty()) return {};
    return fail(Code::kInvalid, "--rootfs: plain processes have none; add --runtime oci");
  }
  if (flags.root_folders.empty())
    return fail(Code::kInvalid,
                fmt::format("--runtime {}: no image is pulled; say with --rootfs where they are",
                            flags.runtime));
  policy.oci_runtime = flags.runtime;
  for (const std::string& text : flags.root_folders)
    MUSTER_CHECK(add_root_folder(policy.images, text));
  return {};
}

}  // namespace

std::vector<Flag> with_node_flags(NodeFlags& node, std::vector<Flag> flags) {
  flags.push_back({"--nodes",
                   &node.nodes,
                   "Carve so many nodes, node-0 and on, out of this machine [one, by its name]",
                   {},
                   false,
                   Range{1, kMaxNodes}});
  flags.push_back({"--node-label", &node.labels, "KEY=VALUE on every node"});
  flags.push_back({"--node-resource", &node.resources,
                   "NAME=AMOUNT: something more that pods may ask for, per node"});
  flags.push_back({"--pod-user", &node.pod_user,
                   "Who pods run as when muster is started as root [run: nobody]"});
  flags.push_back({"--pod-users", &node.pod_users,
                   "FIRST-LAST: pods of each JobSet run as a user of their own from this range; "
                   "none: all have one user [serve, as root: 2100000000-2100065535; run: none]"});
  flags.push_back({"--shared-tmp", &node.shared_tmp,
                   "JobSets that have users of their own see the machine's /tmp, /var/tmp and "
                   "/dev/shm [each has its own]"});
  flags.push_back({"--job-set-processes", &node.job_set_processes,
                   "The most processes and threads of a JobSet that has a user of its own; 0: any "
                   "number [half of what this machine can have]"});
  flags.push_back({"--allow-any-user", &node.any_user,
                   "Pods may ask for other users and groups, root too (securityContext)"});
  flags.push_back({"--host-path", &node.host_paths,
                   "Let hostPath volumes name only what lies below this folder"});
  flags.push_back({"--pod-processes", &node.pod_processes,
                   "The most processes and threads of a pod; 0: any number"});
  flags.push_back({"--all-gpus", &node.all_gpus,
                   "Pods that ask for no GPU see all of this machine's [they see none]"});
  flags.push_back({"--runtime",
                   &node.runtime,
                   "How pods run: as processes of this machine, or in root file systems of their "
                   "own through crun or runc",
                   {NodeFlags::kProcessRuntime, "oci", "crun", "runc"}});
  flags.push_back(
      {"--rootfs", &node.root_folders,
       "[IMAGE=]DIR: the root file system or OCI bundle of this image, or of all others"});
  return flags;
}

Result<agent::NodeOptions> node_options(const NodeFlags& flags) {
  agent::NodeOptions options;
  if (flags.nodes < 0 || flags.nodes > kMaxNodes)
    return fail(Code::kInvalid, fmt::format("--nodes: at most {}", kMaxNodes));
  options.count = static_cast<int>(flags.nodes);
  for (const std::string& text : flags.labels) {
    MUSTER_TRY(Pair label, parse_pair("--node-label", text));
    options.labels[label.key] = std::move(label.value);
  }
  for (const std::string& text : flags.resources) {
    MUSTER_TRY(const Pair resource, parse_pair("--node-resource", text));
    MUSTER_TRY(options.extra_resources[resource.key], parse_amount(resource.value));
  }
  return options;
}

Result<engine::PodPolicy> pod_policy(const NodeFlags& flags) {
  engine::PodPolicy policy{.user = flags.pod_user, .any_user = flags.any_user};
  if (!flags.host_paths.empty()) policy.host_paths = flags.host_paths;
  for (const std::string& path : policy.host_paths) {
    if (!path.starts_with('/'))
      return fail(Code::kInvalid,
                  fmt::format("--host-path {}: it takes a path from the root", plain_text(path)));
  }
  if (flags.pod_processes < 0) return fail(Code::kInvalid, "--pod-processes: 0 or more");
  policy.processes = flags.pod_processes;
  policy.hide_gpus = !flags.all_gpus;
  if (flags.job_set_processes < 0 && flags.job_set_processes != engine::PodPolicy::kHalfTheMachine)
    return fail(Code::kInvalid, "--job-set-processes: 0 or more");
  policy.job_set_processes = flags.job_set_processes;
  policy.shared_tmp = flags.shared_tmp;
  policy.one_user = flags.pod_users == NodeFlags::kOneUser;
  if (!flags.pod_users.empty() && !flags.pod_user.empty() && !policy.one_user)
    return fail(Code::kInvalid, "--pod-users and --pod-user exclude each other");
  if (!flags.pod_users.empty() && !policy.one_user) {
    MUSTER_TRY(policy.users, parse_range(flags.pod_users));
  }
  MUSTER_CHECK(add_images(policy, flags));
  return policy;
}

}  // namespace muster::cli
