#include "engine/pod_policy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>

#include "runtime/borrowed_rights.h"

namespace muster::engine {
namespace {

constexpr const char* kNobody = "nobody";
constexpr std::uint32_t kNobodysNumber = 65534;  // on machines without a list of users

// Programs of pods may call this very binary (`muster tool …`).
std::string own_program() {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  return std::string(path.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
}

bool can_execute(const runtime::User& user, const std::string& program) {
  const runtime::BorrowedRights borrowed(user);
  return ::faccessat(AT_FDCWD, program.c_str(), X_OK, AT_EACCESS) == 0;
}

std::vector<std::string> values_of(std::initializer_list<const char*> names) {
  std::vector<std::string> out;
  for (const char* name : names) {
    if (const char* const value = std::getenv(name); value != nullptr)
      out.push_back(fmt::format("{}={}", name, value));
  }
  return out;
}

// What a program of our own user needs of its surroundings; nothing that belongs to muster.
std::vector<std::string> own_environment(std::string_view programs) {
  auto out = values_of(
      {"HOME", "USER", "LOGNAME", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV"});
  if (const char* const path = std::getenv("PATH"); path != nullptr)
    out.push_back(fmt::format("PATH={}:{}", path, programs));
  return out;
}

// Root of a user namespace may know nobody else. He has no rights outside: none need be given up.
bool can_become(const runtime::User& user) {
  return runtime::BorrowedRights(user).status().has_value();
}

// The first of its ends that our user namespace does not have.
std::optional<std::uint32_t> stranger_in(const agent::UserRange& range) {
  for (const std::uint32_t user : {range.first, range.last})
    if (!can_become({.uid = user, .gid = user, .groups = {}})) return user;
  return std::nullopt;
}

// 0 if it cannot be read: no bound follows from it.
std::int64_t kernel_number(const char* name) {
  std::int64_t number = 0;
  std::ifstream(fmt::format("/proc/sys/kernel/{}", name)) >> number;
  return number;
}

Result<runtime::User> pod_user(const PodPolicy& policy) {
  const runtime::User self{.uid = ::geteuid(), .gid = ::getegid(), .groups = {}};
  if (policy.user.empty()) {
    if (self.uid != 0) return self;
    const auto nobody = agent::find_user(kNobody).value_or(
        runtime::User{.uid = kNobodysNumber, .gid = kNobodysNumber, .groups = {}});
    return can_become(nobody) ? nobody : self;
  }
  MUSTER_TRY(runtime::User user, agent::find_user(policy.user));
  if (user.uid == self.uid) return user;
  if (self.uid != 0)
    return fail(Code::kInvalid,
                fmt::format("--pod-user {}: only root can run pods as another user", policy.user));
  if (can_become(user)) return user;
  return fail(Code::kInvalid, fmt::format("--pod-user {}: this user namespace has no user {}",
                                          policy.user, user.uid));
}

}  // namespace

std::string sudo_caller() {
  const char* const number = std::getenv("SUDO_UID");
  if (::geteuid() != 0 || number == nullptr || std::string_view(number) == "0") return "";
  return number;
}

std::vector<std::string> common_environment() {
  return values_of({"LANG", "LC_ALL", "TZ", "CUDA_VISIBLE_DEVICES"});
}

PodPolicy for_many(PodPolicy policy) {
  const bool open = policy.user.empty() && !policy.users && !policy.one_user;
  if (open && ::geteuid() == 0 && !stranger_in(PodPolicy::kUsualUsers))
    policy.users = PodPolicy::kUsualUsers;
  return policy;
}

Result<std::unique_ptr<agent::UserBook>> users_under(const PodPolicy& policy,
                                                     const UserPlaces& places) {
  if (!policy.users) return nullptr;
  const auto refuse = [](std::string_view why) {
    return fail(Code::kInvalid, fmt::format("--pod-users: {}", why));
  };
  if (::geteuid() != 0) return refuse("only root can run pods as other users");
  if (const auto stranger = stranger_in(*policy.users))
    return refuse(fmt::format("this user namespace has no user {}", *stranger));
  if (places.lock_folder.empty())
    return refuse(
        "there is no folder for the claims of servers, which keep users of different "
        "servers apart; --pod-users none runs all pods as one user");
  // Other servers, which work elsewhere, read what it is called.
  std::error_code error;
  const std::string data = std::filesystem::canonical(places.data_dir, error);
  if (error) return refuse(fmt::format("{}: {}", places.data_dir, error.message()));
  return agent::UserBook::open(
      {.file = data + "/users",
       .claims_folder = places.lock_folder + "/users",
       .range = *policy.users,
       .is_taken = agent::is_known_user_or_group,
       .folders = places.own_folders
                      ? std::optional(agent::GroupFolders::Options{.directory = data + "/groups"})
                      : std::nullopt});
}

std::int64_t half_of(std::int64_t pid_max, std::int64_t threads_max) {
  return std::min(pid_max, threads_max) / 2;
}

std::int64_t job_set_processes_under(const PodPolicy& policy) {
  if (policy.job_set_processes != PodPolicy::kHalfTheMachine) return policy.job_set_processes;
  return half_of(kernel_number("pid_max"), kernel_number("threads-max"));
}

Result<agent::Identity> identity_under(const PodPolicy& policy) {
  MUSTER_TRY(runtime::User user, pod_user(policy));
  const std::string program = own_program();
  const bool hidden = !can_execute(user, program);
  return agent::Identity{
      .uid = ::geteuid(),
      .pod_user = std::move(user),
      .any_user = policy.any_user,
      .environment = own_environment(std::string_view(program).substr(0, program.rfind('/'))),
      .program = program,
      .program_is_hidden = hidden};
}

}  // namespace muster::engine
