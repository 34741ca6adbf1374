#include "agent/run_spec.h"

#include <fmt/format.h>

#include "api/quantity.h"

namespace muster::agent {
namespace {

using json::Value;

// The container's word counts before the pod's.
Value security(Value pod, Value container, std::string_view key) {
  const Value own = container.get({"securityContext", key});
  return own.is_null() ? pod.get({"spec", "securityContext", key}) : own;
}

std::string pod_text(Value pod) {
  const Value metadata = pod.get("metadata");
  return fmt::format("{}_{}({})", metadata.get("name").as_string(),
                     metadata.get("namespace").as_string(), metadata.get("uid").as_string());
}

Status check_non_root(Value pod, Value container, std::optional<std::uint32_t> asked,
                      std::uint32_t uid) {
  if (!security(pod, container, "runAsNonRoot").as_bool() || uid != 0) return {};
  const std::string_view name = container.get("name").as_string();
  return fail(Code::kInvalid,
              fmt::format("{} (pod: \"{}\", container: {})",
                          asked ? "container's runAsUser breaks non-root policy"
                                : "container has runAsNonRoot and image will run as root",
                          pod_text(pod), name));
}

std::optional<std::int64_t> amount(Value limit, bool milli) {
  if (limit.is_null()) return std::nullopt;
  const auto quantity = limit.is_string() ? api::Quantity::parse(limit.as_string())
                                          : api::Quantity::of(limit.as_int());
  if (!quantity) return std::nullopt;
  return milli ? quantity->milli_value() : quantity->value();
}

}  // namespace

Result<std::optional<runtime::User>> user_of(Value pod, Value container, const Identity& identity) {
  const Value wish = security(pod, container, "runAsUser");
  std::optional<std::uint32_t> asked;
  if (wish.is_number()) asked = static_cast<std::uint32_t>(wish.as_int());
  const std::uint32_t usual =
      identity.uid == 0 && identity.pod_user ? identity.pod_user->uid : identity.uid;
  MUSTER_CHECK(check_non_root(pod, container, asked, asked.value_or(usual)));
  if (identity.uid != 0) {
    if (!asked || *asked == identity.uid) return std::nullopt;
    return fail(Code::kInvalid,
                fmt::format("container {} asks for user {}, but this node runs pods as user {}: "
                            "start muster as root to allow it",
                            container.get("name").as_string(), *asked, identity.uid));
  }
  const Value group = security(pod, container, "runAsGroup");
  const bool wants_root = (asked && *asked == 0) || (group.is_number() && group.as_int() == 0);
  if (wants_root && identity.pod_user && identity.pod_user->uid != 0) {
    return fail(Code::kForbidden,
                fmt::format("container {} asks for root, but this node runs pods as user {}",
                            container.get("name").as_string(), identity.pod_user->uid));
  }
  const Value context = pod.get({"spec", "securityContext"});
  const bool plain = !asked && !group.is_number() && !context.get("fsGroup").is_number() &&
                     context.get("supplementalGroups").empty();
  if (plain) return std::nullopt;
  runtime::User user = identity.pod_user.value_or(runtime::User{});
  // Who names no group gets one of the same number: the machine's group 0 is not for everyone.
  if (asked) user = {.uid = *asked, .gid = *asked == user.uid ? user.gid : *asked, .groups = {}};
  if (group.is_number()) user.gid = static_cast<std::uint32_t>(group.as_int());
  for (const Value extra : context.get("supplementalGroups").items())
    user.groups.push_back(static_cast<std::uint32_t>(extra.as_int()));
  if (const Value fs = context.get("fsGroup"); fs.is_number())
    user.groups.push_back(static_cast<std::uint32_t>(fs.as_int()));
  return user;
}

Result<runtime::RunSpec> make_run_spec(const RunRequest& request, const PodFacts& facts,
                                       const Objects& objects, const VolumeRoot& root,
                                       const Paths& paths, const Identity& identity) {
  const Value pod = request.pod, container = request.container;
  MUSTER_TRY(CommandLine line, command_line(pod, container, facts, objects));
  runtime::RunSpec spec;
  MUSTER_TRY(spec.mounts, mounts_of(root, pod, container, line.variables, objects));
  MUSTER_TRY(spec.user, user_of(pod, container, identity));
  spec.container = container.get("name").as_string();
  spec.number = request.number;
  spec.argv = std::move(line.argv);
  spec.environment = std::move(line.environment);
  spec.working_directory = std::move(line.working_directory);
  const Value limits = container.get({"resources", "limits"});
  spec.limits.cpu_millis = amount(limits.get("cpu"), true);
  spec.limits.memory_bytes = amount(limits.get("memory"), false);
  spec.read_only_root = container.get({"securityContext", "readOnlyRootFilesystem"}).as_bool();
  const Value metadata = pod.get("metadata");
  const std::string run =
      fmt::format("{}/{}/{}",
                  paths.pod_logs(metadata.get("namespace").as_string(),
                                 metadata.get("name").as_string(), metadata.get("uid").as_string()),
                  spec.container, spec.number);
  spec.log_file = run + ".log";
  spec.termination_log = run + ".message";
  const std::string_view path = container.get("terminationMessagePath").as_string();
  spec.termination_log_path = path.empty() ? "/dev/termination-log" : path;
  spec.gate = request.gate;
  return spec;
}

}  // namespace muster::agent
