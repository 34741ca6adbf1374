#include "cli/tools/remote_launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

#include "base/number.h"
#include "base/terminal_text.h"
#include "base/thread.h"
#include "cli/follow/lines.h"
#include "cli/tools/sockets.h"

extern char** environ;

namespace muster::cli {
namespace {

constexpr Duration kPatience = std::chrono::seconds(60);
constexpr std::uint32_t kMaxFrame = 1u << 20;  // a command with its environment
constexpr std::size_t kMaxSlots = 4096;

enum class Frame : char {
  kCommand = 'C',
  kVariable = 'V',
  kGo = 'G',
  kOut = 'O',
  kError = 'E',
  kExit = 'X'
};

// A letter, four bytes of length, the bytes.
Status send_frame(int socket, Frame kind, std::string_view bytes) {
  std::string frame(1, static_cast<char>(kind));
  const auto length = static_cast<std::uint32_t>(bytes.size());
  frame.append(reinterpret_cast<const char*>(&length), sizeof length);
  frame += bytes;
  return send_all(socket, frame);
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t"));
}

struct Received {
  Frame kind = Frame::kGo;
  std::string bytes;
};

Result<Received> receive_frame(int socket) {
  std::array<char, 1 + sizeof(std::uint32_t)> head{};
  MUSTER_CHECK(receive_all(socket, head.data(), head.size()));
  std::uint32_t length = 0;
  std::memcpy(&length, head.data() + 1, sizeof length);
  if (length > kMaxFrame) return fail(Code::kTooLarge, "a message that is none of ours");
  Received out{static_cast<Frame>(head[0]), std::string(length, '\0')};
  MUSTER_CHECK(receive_all(socket, out.bytes.data(), out.bytes.size()));
  return out;
}

Result<Launch> receive_launch(int socket) {
  Launch launch;
  while (true) {
    MUSTER_TRY(Received frame, receive_frame(socket));
    if (frame.kind == Frame::kCommand) launch.command.push_back(std::move(frame.bytes));
    if (frame.kind == Frame::kVariable) launch.environment.push_back(std::move(frame.bytes));
    if (frame.kind == Frame::kGo) break;
  }
  if (launch.command.empty()) return fail(Code::kInvalid, "nothing to run");
  return launch;
}

// In the child: never returns.
[[noreturn]] void become(const Launch& launch, int out, int error) {
  ::setpgid(0, 0);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  for (const std::string& variable : launch.environment)
    ::putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> argv;
  for (const std::string& word : launch.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  const std::string why = fmt::format("{}: {}\n", launch.command.front(), std::strerror(errno));
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, why.data(), why.size());
  ::_exit(127);
}

// Sends what the pipe holds; false at its end.
bool pass_on(int pipe, int socket, Frame kind) {
  std::array<char, 16 * 1024> bytes{};
  const ssize_t got = ::read(pipe, bytes.data(), bytes.size());
  if (got < 0) return errno == EINTR;
  if (got == 0) return false;
  return send_frame(socket, kind, {bytes.data(), static_cast<std::size_t>(got)}).has_value();
}

// Output to the caller until both pipes end; the caller's going ends the program.
void pump(int socket, int out, int error, pid_t child) {
  std::array<pollfd, 3> watched = {{{out, POLLIN, 0}, {error, POLLIN, 0}, {socket, POLLIN, 0}}};
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    if (watched[0].revents != 0 && !pass_on(out, socket, Frame::kOut)) watched[0].fd = -1;
    if (watched[1].revents != 0 && !pass_on(error, socket, Frame::kError)) watched[1].fd = -1;
    if (watched[2].revents != 0) {
      ::kill(-child, SIGKILL);
      watched[2].fd = -1;
    }
  }
}

// Who connects and says nothing is a probe.
bool is_probe(int socket) {
  char first = 0;
  return ::recv(socket, &first, 1, MSG_PEEK) == 0;
}

Status serve_one(int socket) {
  if (is_probe(socket)) return {};
  MUSTER_TRY(const unsigned user, peer_user(socket));
  if (user != ::geteuid()) return fail(Code::kForbidden, "another user asks");
  MUSTER_TRY(const Launch launch, receive_launch(socket));
  std::array<int, 2> out{}, error{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(error.data(), O_CLOEXEC) != 0)
    return fail(Code::kUnavailable, "no pipe");
  const pid_t child = ::fork();
  if (child == 0) become(launch, out[1], error[1]);
  ::close(out[1]);
  ::close(error[1]);
  const UniqueFd out_end(out[0]), error_end(error[0]);
  if (child < 0) return fail(Code::kUnavailable, "cannot fork");
  ::setpgid(child, child);
  pump(socket, out_end.get(), error_end.get(), child);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return send_frame(socket, Frame::kExit, std::to_string(code));
}

}  // namespace

Status serve_launches(const std::string& host) {
  MUSTER_TRY(const UniqueFd listener, listen_at(host, std::string(kLaunchPort)));
  fmt::print("{} takes launches\n", host);
  std::fflush(stdout);
  while (true) {
    MUSTER_TRY(UniqueFd caller, accept_from(listener.get()));
    auto serving = start_thread([caller = std::move(caller)] {
      if (const auto served = serve_one(caller.get()); !served)
        fmt::print(stderr, "refused: {}\n", served.error().message);
    });
    if (serving)
      serving->detach();
    else
      fmt::print(stderr, "refused: {}\n", serving.error().message);
  }
}

Result<int> launch(const Launch& launch,
                   const std::function<void(bool is_error, std::string_view bytes)>& output) {
  MUSTER_TRY(const UniqueFd worker, connect_to(launch.host, std::string(kLaunchPort), kPatience));
  for (const std::string& word : launch.command)
    MUSTER_CHECK(send_frame(worker.get(), Frame::kCommand, word));
  for (const std::string& variable : launch.environment)
    MUSTER_CHECK(send_frame(worker.get(), Frame::kVariable, variable));
  MUSTER_CHECK(send_frame(worker.get(), Frame::kGo, ""));
  while (true) {
    MUSTER_TRY(const Received frame, receive_frame(worker.get()));
    if (frame.kind == Frame::kExit) {
      const auto code = parse_number<int>(frame.bytes);
      if (!code) return fail(Code::kInternal, "the worker's exit code is no number");
      return *code;
    }
    if (frame.kind == Frame::kOut || frame.kind == Frame::kError)
      output(frame.kind == Frame::kError, frame.bytes);
  }
}

Result<std::vector<std::string>> slots_of(std::string_view host_file) {
  std::vector<std::string> slots;
  Lines lines(kLongestLogLine);
  std::string fault;
  const auto add = [&](std::string_view line) {
    line = line.substr(0, line.find('#'));
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos) return;
    line.remove_prefix(begin);
    const std::string host(first_word(line));
    std::size_t count = 1;
    if (const std::size_t at = line.find("slots="); at != line.npos)
      count = parse_number<std::size_t>(first_word(line.substr(at + 6))).value_or(0);
    if (count == 0 || count > kMaxSlots - slots.size())
      fault = host;
    else
      slots.insert(slots.end(), count, host);
  };
  lines.take(host_file, add);
  lines.finish(add);
  if (!fault.empty())
    return fail(Code::kInvalid,
                fmt::format("host file: slots of {} must be 1 to {}", fault, kMaxSlots));
  return slots;
}

Result<int> launch_ranks(const std::vector<std::string>& slots,
                         const std::vector<std::string>& command) {
  std::mutex one_line;
  std::vector<Result<int>> codes(slots.size(), 0);
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < slots.size(); ++rank) {
    auto started = start_thread([&, rank] {
      Lines lines(kLongestLogLine);
      const auto print = [&](std::string_view line) {
        const std::lock_guard lock(one_line);
        fmt::print("[{}] {}\n", rank, line);
        std::fflush(stdout);
      };
      codes[rank] = launch({.host = slots[rank],
                            .command = command,
                            .environment = {fmt::format("OMPI_COMM_WORLD_RANK={}", rank),
                                            fmt::format("OMPI_COMM_WORLD_SIZE={}", slots.size())}},
                           [&](bool, std::string_view bytes) { lines.take(bytes, print); });
      lines.finish(print);
    });
    if (started)
      ranks.push_back(*std::move(started));
    else
      codes[rank] = std::unexpected(started.error());
  }
  for (std::thread& rank : ranks) rank.join();
  int worst = 0;
  for (std::size_t rank = 0; rank < slots.size(); ++rank) {
    if (!codes[rank])
      return fail(Code::kUnavailable,
                  fmt::format("rank {} on {}: {}", rank, slots[rank], codes[rank].error().message));
    worst = std::max(worst, *codes[rank]);
  }
  return worst;
}

}  // namespace muster::cli
