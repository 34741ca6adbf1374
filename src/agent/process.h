// A local process as the agent needs it: started in its own group, output to a file, end told on
// the loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/loop.h"
#include "base/result.h"

namespace muster::agent {

struct ProcessSpec {
  std::vector<std::string> argv;         // argv[0] is looked up in PATH
  std::vector<std::string> environment;  // NAME=value
  std::string working_directory;         // empty: the agent's own
  std::string log_file;                  // standard output and error are appended to it
};

struct Exit {
  int code = 0;  // 128 + signal if it was killed
  int signal = 0;
};

class Process {
 public:
  // `ended` is called once, on the loop, unless the Process is destroyed before. Fails if the
  // program cannot be started: not found, not executable, no such directory.
  static Result<std::unique_ptr<Process>> start(Loop& loop, const ProcessSpec& spec,
                                                std::function<void(Exit)> ended);
  virtual ~Process() = default;  // kills the group if it still runs, and reaps it

  virtual int pid() const = 0;
  virtual void signal(int number) = 0;  // to the whole group
};

}  // namespace muster::agent
