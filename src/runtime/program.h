// The last steps of a child process before it becomes a container's program.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/borrowed_memory.h"
#include "runtime/cgroups.h"
#include "runtime/runtime.h"

namespace muster::runtime {

struct Program {
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string working_directory;  // empty: the server's, else HOME, else /: what can be entered
  std::string server_directory;
  std::optional<User> user;
  std::int64_t user_processes = 0;  // of that user, at most; 0: any number
  RunGroups groups;
  std::string gate;
  std::string bundle;  // where the init has it, with a root file system of its own (oci_bundle.h)
};

struct Stdio {
  int input = 0;
  int output = 1;
  int errors = 2;
  // Input is a socket to whoever wants the master of a terminal (terminals.h), which becomes the
  // session's and is all three.
  bool terminal = false;
};

// What the child tells through its start pipe, which is closed by a successful exec: `h` when it is
// held at its gate, `x` just before the exec, `e` and a text when it could not be started.
inline constexpr char kHeldMark = 'h';
inline constexpr char kExecMark = 'x';
inline constexpr char kErrorMark = 'e';

// Where a program is held before its exec. The gate is mapped: its file may be out of sight.
struct Hold {
  const std::atomic<std::uint32_t>* gate = nullptr;  // null: it is not
  BorrowedMemory* memory = nullptr;  // if it is the parent's: given back before the wait
};

// For a fresh child of a process with one thread. All descriptors but the standard ones are closed.
[[noreturn]] void run_program(const Program& program, const Stdio& stdio, int start_pipe,
                              const Hold& hold = {});

[[noreturn]] void fail_start(int start_pipe, std::string_view why);
void mark_start(int start_pipe, char what);

// Steps of run_program, for others that execute something.
void take_stdio(const Stdio& stdio);
void unblock_signals();  // what they do by themselves is the keeper's choice: the default

// The file that execve is to be given, or why there is none, in the words of container runtimes.
Result<std::string> find_program(const std::string& name,
                                 const std::vector<std::string>& environment);

}  // namespace muster::runtime
