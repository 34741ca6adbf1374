#include "agent/identity.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"

namespace muster::agent {
namespace {

using json::Value;

constexpr std::string_view kLoginPath = "/usr/local/bin:/usr/bin:/bin";
constexpr std::string_view kProgramFolder = "/.muster/bin";
constexpr std::string_view kPolicyFlag = "--allow-any-user";

// The container's word counts before the pod's.
Value security(Value pod, Value container, std::string_view key) {
  const Value own = container.get({"securityContext", key});
  return own.is_null() ? pod.get({"spec", "securityContext", key}) : own;
}

std::optional<std::uint32_t> id_in(Value value) {
  if (!value.is_number()) return std::nullopt;
  return static_cast<std::uint32_t>(value.as_int());
}

std::string pod_text(Value pod) {
  const Value metadata = pod.get("metadata");
  return fmt::format("{}_{}({})", metadata.get("name").as_string(),
                     metadata.get("namespace").as_string(), metadata.get("uid").as_string());
}

Status check_non_root(Value pod, Value container, bool asked, std::uint32_t uid) {
  if (!security(pod, container, "runAsNonRoot").as_bool() || uid != 0) return {};
  return fail(Code::kInvalid,
              fmt::format("{} (pod: \"{}\", container: {})",
                          asked ? "container's runAsUser breaks non-root policy"
                                : "container has runAsNonRoot and image will run as root",
                          pod_text(pod), container.get("name").as_string()));
}

std::unexpected<Error> refuse(Value container, std::string_view what, std::uint32_t number,
                              const Identity& identity) {
  return fail(
      Code::kForbidden,
      fmt::format("container {} asks for {} {}, but this node runs pods as user {}: {}",
                  container.get("name").as_string(), what, number, identity.pod_user.uid,
                  identity.uid == 0
                      ? fmt::format("start muster with {} to allow it", kPolicyFlag)
                      : fmt::format("start muster as root with {} to allow it", kPolicyFlag)));
}

bool allows_everybody(const Identity& identity) {
  return identity.uid == 0 && (identity.any_user || identity.pod_user.uid == 0);
}

// Groups give rights as users do.
Status check_policy(Value pod, Value container, const Identity& identity) {
  if (allows_everybody(identity)) return {};
  const auto user = id_in(security(pod, container, "runAsUser"));
  if (user && *user != identity.pod_user.uid) return refuse(container, "user", *user, identity);
  const auto group = id_in(security(pod, container, "runAsGroup"));
  if (group && !identity.pod_user.has_group(*group))
    return refuse(container, "group", *group, identity);
  for (const Value extra : pod.get({"spec", "securityContext", "supplementalGroups"}).items()) {
    const auto number = id_in(extra);
    if (number && !identity.pod_user.has_group(*number))
      return refuse(container, "group", *number, identity);
  }
  return {};
}

std::string_view folder_of(std::string_view file) { return file.substr(0, file.rfind('/')); }
std::string_view name_of(std::string_view file) { return file.substr(file.rfind('/') + 1); }

bool is_folder(const char* path) {
  struct stat info{};
  return ::stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

Result<runtime::User> find_user(std::string_view name) {
  const std::string text(name);
  const auto number = parse_number<std::uint32_t>(text);
  const passwd* const found = number ? ::getpwuid(*number) : ::getpwnam(text.c_str());
  if (found == nullptr && number) return runtime::User{*number, *number, {}};
  if (found == nullptr)
    return fail(Code::kInvalid, fmt::format("there is no user \"{}\" on this machine", name));
  runtime::User user{.uid = found->pw_uid, .gid = found->pw_gid, .groups = {}};
  int count = 64;
  user.groups.resize(static_cast<std::size_t>(count));
  if (::getgrouplist(found->pw_name, user.gid, user.groups.data(), &count) < 0) {
    user.groups.resize(static_cast<std::size_t>(count));
    ::getgrouplist(found->pw_name, user.gid, user.groups.data(), &count);
  }
  user.groups.resize(static_cast<std::size_t>(count));
  return user;
}

Result<runtime::User> user_of(Value pod, Value container, const Identity& identity) {
  const auto asked = id_in(security(pod, container, "runAsUser"));
  runtime::User user = identity.pod_user;
  MUSTER_CHECK(check_non_root(pod, container, asked.has_value(), asked.value_or(user.uid)));
  MUSTER_CHECK(check_policy(pod, container, identity));
  // Who names no group gets one of the same number: the machine's group 0 is not for everyone.
  if (asked && *asked != user.uid) user = {.uid = *asked, .gid = *asked, .groups = {}};
  if (const auto group = id_in(security(pod, container, "runAsGroup"))) user.gid = *group;
  const Value context = pod.get({"spec", "securityContext"});
  const auto add = [&](Value value) {
    const auto group = id_in(value);
    if (group && !user.has_group(*group)) user.groups.push_back(*group);
  };
  for (const Value extra : context.get("supplementalGroups").items()) add(extra);
  // Elsewhere volumes are for the user himself, who needs no group for them.
  if (allows_everybody(identity)) add(context.get("fsGroup"));
  return user;
}

std::vector<std::string> surroundings(const Identity& identity, const runtime::User& user) {
  if (user.uid == identity.uid) return identity.environment;
  std::string path(kLoginPath);
  if (!identity.program.empty())
    path += fmt::format(":{}",
                        identity.program_is_hidden ? kProgramFolder : folder_of(identity.program));
  const passwd* const found = ::getpwuid(user.uid);
  const bool has_home = found != nullptr && is_folder(found->pw_dir);
  std::vector<std::string> out = {"PATH=" + path,
                                  fmt::format("HOME={}", has_home ? found->pw_dir : "/")};
  // Programs that look up their user's name fail if USER is missing: a user without a name gets its
  // number.
  const std::string name = found != nullptr ? found->pw_name : std::to_string(user.uid);
  out.push_back("USER=" + name);
  out.push_back("LOGNAME=" + name);
  return out;
}

std::optional<runtime::Mount> program_mount(const Identity& identity, const runtime::User& user) {
  const std::string& program = identity.program;
  if (user.uid == identity.uid || !identity.program_is_hidden ||
      ::access(program.c_str(), F_OK) != 0)
    return std::nullopt;
  return runtime::Mount{.source = program,
                        .target = fmt::format("{}/{}", kProgramFolder, name_of(program)),
                        .read_only = true};
}

}  // namespace muster::agent
