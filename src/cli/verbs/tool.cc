// `muster tool NAME`: the programs that the built-in examples run, so that they need nothing but
// muster on a machine.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cli/tools/all_reduce.h"
#include "cli/tools/remote_launch.h"
#include "cli/tools/sockets.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "engine/data_dir.h"

namespace muster::cli {
namespace {

using Arguments = std::vector<std::string>;

constexpr Duration kPatience = std::chrono::seconds(60);

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

int run_all_reduce(const Arguments& arguments) {
  auto options = all_reduce_options();
  if (!options) return complain(options.error(), kRefused);
  if (arguments.size() == 2 && arguments[0] == "--steps")
    options->steps = std::atoi(arguments[1].c_str());
  const auto done = all_reduce(*options);
  return done ? kSucceeded : complain(done.error(), kRefused);
}

// At this address, or this pod's own name.
int run_worker(const Arguments& arguments) {
  const auto served = serve_launches(arguments.empty() ? host_name() : arguments.front());
  return served ? kSucceeded : complain(served.error(), kRefused);
}

// mpirun's remote shell: HOST WORD..., joined to a line for the shell there.
int run_remote_shell(const Arguments& arguments) {
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at].starts_with('-')) ++at;
  if (at + 1 >= arguments.size()) return misused("mpi-rsh takes HOST COMMAND...");
  std::string line;
  for (std::size_t i = at + 1; i < arguments.size(); ++i)
    line += (line.empty() ? "" : " ") + arguments[i];
  const auto code =
      launch({.host = arguments[at], .command = {"sh", "-c", line}, .environment = {}},
             [](bool is_error, std::string_view bytes) {
               std::fwrite(bytes.data(), 1, bytes.size(), is_error ? stderr : stdout);
               std::fflush(is_error ? stderr : stdout);
             });
  return code ? *code : complain(code.error(), kRefused);
}

// ADDRESS PORT COUNT: prints what so many others send.
int run_listen(const Arguments& arguments) {
  if (arguments.size() != 3) return misused("listen takes ADDRESS PORT COUNT");
  const auto listener = listen_at(arguments[0], arguments[1]);
  if (!listener) return complain(listener.error(), kRefused);
  fmt::print("listening at {}:{}\n", arguments[0], arguments[1]);
  std::fflush(stdout);
  // Who connects and says nothing is a probe.
  for (int missing = std::atoi(arguments[2].c_str()); missing > 0;) {
    const auto sender = accept_from(listener->get());
    if (!sender) return complain(sender.error(), kRefused);
    const std::string said = receive_text(sender->get());
    if (said.empty()) continue;
    fmt::print("heard: {}\n", said);
    std::fflush(stdout);
    --missing;
  }
  return kSucceeded;
}

// ADDRESS PORT TEXT.
int run_send(const Arguments& arguments) {
  if (arguments.size() != 3) return misused("send takes ADDRESS PORT TEXT");
  const auto socket = connect_to(arguments[0], arguments[1], kPatience);
  if (!socket) return complain(socket.error(), kRefused);
  if (const auto sent = send_all(socket->get(), arguments[2]); !sent)
    return complain(sent.error(), kRefused);
  fmt::print("sent: {}\n", arguments[2]);
  return kSucceeded;
}

bool is_in_path(std::string_view program) {
  std::string_view path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const std::string file = fmt::format("{}/{}", path.substr(0, end), program);
    if (::access(file.c_str(), X_OK) == 0) return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

// The machine's own mpirun with our remote shell; never returns.
int become_mpirun(const std::string& host_file, const Arguments& command) {
  std::error_code ignored;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  Arguments words = {"mpirun", "--hostfile",    host_file,
                     "--mca",  "plm_rsh_agent", self + " tool mpi-rsh",
                     "--mca",  "plm",           "rsh"};
  words.insert(words.end(), command.begin(), command.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return complain({.code = Code::kUnavailable, .message = "mpirun cannot be started"}, kRefused);
}

int run_mpirun(const Arguments& arguments) {
  if (arguments.size() < 3 || arguments[0] != "--hostfile")
    return misused("mpirun takes --hostfile FILE COMMAND...");
  const Arguments command(arguments.begin() + 2, arguments.end());
  if (is_in_path("mpirun")) return become_mpirun(arguments[1], command);
  const auto text = engine::read_file(arguments[1]);
  if (!text) return complain(text.error(), kRefused);
  const auto slots = slots_of(*text);
  if (!slots) return complain(slots.error(), kRefused);
  fmt::print("no mpirun here: the built-in launcher starts {} ranks\n", slots->size());
  std::fflush(stdout);
  const auto worst = launch_ranks(*slots, command);
  return worst ? *worst : complain(worst.error(), kRefused);
}

int tool(const Arguments& words) {
  constexpr std::array<std::pair<std::string_view, int (*)(const Arguments&)>, 6> kTools = {
      {{"allreduce", run_all_reduce},
       {"listen", run_listen},
       {"send", run_send},
       {"mpi-worker", run_worker},
       {"mpi-rsh", run_remote_shell},
       {"mpirun", run_mpirun}}};
  for (const auto& [name, run] : kTools) {
    if (!words.empty() && words.front() == name) return run({words.begin() + 1, words.end()});
  }
  return misused("the tools are allreduce, listen, send, mpi-worker, mpi-rsh and mpirun");
}

}  // namespace

Verb tool_verb() {
  const auto words = std::make_shared<Arguments>();
  return {.name = "tool",
          .group = "",
          .help = "Programs of the built-in examples",
          .flags = {{"words", words.get(), "A tool and its arguments, as they are"}},
          .run = [words] { return tool(*words); },
          .takes_all = true};
}

}  // namespace muster::cli
