#include "runtime/keeper_link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "json/parse.h"
#include "runtime/channel.h"
#include "runtime/keeper.h"
#include "runtime/records.h"

namespace muster::runtime {
namespace {

constexpr int kPatienceMs = 20'000;  // on a machine that swaps
constexpr int kAttempts = 3;         // a keeper may end just when we come

bool wait_readable(int fd) {
  pollfd poller{.fd = fd, .events = POLLIN, .revents = 0};
  for (;;) {
    const int ready = poll(&poller, 1, kPatienceMs);
    if (ready >= 0 || errno != EINTR) return ready == 1;
  }
}

Result<KeeperLink> greet(UniqueFd socket) {
  if (!wait_readable(socket.get())) return fail(Code::kTimeout, "the keeper does not answer");
  MUSTER_TRY(const auto message, receive_message(socket.get()));
  if (!message) return fail(Code::kUnavailable, "the keeper does not answer");
  json::Arena arena;
  MUSTER_TRY(const json::Value hello, json::parse(arena, message->text));
  KeeperLink link{std::move(socket), {}};
  for (const json::Value each : hello.get("abilities").items()) {
    link.abilities.push_back(ability_from(each));
  }
  return link;
}

// What the keeper says until it is ready: nothing, or why it is not.
Result<std::string> read_report(int fd) {
  std::string text;
  std::array<char, 512> part;
  for (;;) {
    if (!wait_readable(fd)) return fail(Code::kTimeout, "the keeper does not start");
    const ssize_t got = read(fd, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

// The pods' processes come from there: no descriptors but its report, and nothing of our
// environment but that all symbols are bound at once, also those between libraries. Each pod would
// do it again.
Result<pid_t> spawn(const std::vector<std::string>& arguments, int report) {
  std::vector<char*> argv;
  for (const std::string& each : arguments) argv.push_back(const_cast<char*>(each.c_str()));
  argv.push_back(nullptr);
  std::string bind_now = "LD_BIND_NOW=1";
  char* environment[] = {bind_now.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, report, STDOUT_FILENO);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return pid;
  return fail(Code::kInternal, fmt::format("cannot start {}: {}", argv[0], std::strerror(failed)));
}

Status start_keeper(const RuntimeOptions& options) {
  std::vector<std::string> arguments = options.keeper_argv;
  arguments.push_back(options.directory);
  if (!options.namespaces) arguments.emplace_back("--plain");
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail(Code::kInternal, std::strerror(errno));
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  MUSTER_TRY(const pid_t first, spawn(arguments, theirs.get()));
  theirs = {};
  const Result<std::string> report = read_report(ours.get());
  while (waitpid(first, nullptr, 0) < 0 && errno == EINTR) {  // it forks and ends at once
  }
  if (!report) return std::unexpected(report.error());
  if (!report->empty()) return fail(Code::kInternal, "the keeper cannot start: " + *report);
  return {};
}

}  // namespace

Result<KeeperLink> reach_keeper(const RuntimeOptions& options) {
  Result<KeeperLink> link = fail(Code::kUnavailable, "no keeper");
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (Result<UniqueFd> socket = connect_to(options.directory, kKeeperSocket)) {
      link = greet(std::move(*socket));
      if (link) return link;
    }
    MUSTER_CHECK(start_keeper(options));
  }
  if (Result<UniqueFd> socket = connect_to(options.directory, kKeeperSocket)) {
    return greet(std::move(*socket));
  }
  return link;
}

}  // namespace muster::runtime
