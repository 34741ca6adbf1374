// Programs in containers that clients talk to: exec starts one, attach joins the one that runs.
// Implemented by the node agent; the server speaks the channel protocol on top (channels.h).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::server {

// The program's side, held while the client is there. Any thread. Its end is the client's end: a
// program that was started for the client gets SIGHUP.
class Program {
 public:
  virtual ~Program() = default;
  virtual void input(std::string bytes) = 0;
  virtual void end_input() = 0;
  virtual void resize(int columns, int rows) = 0;  // of its terminal; ignored without one
  virtual void hold_output(bool hold) = 0;         // the client is behind, or has caught up
};

// The client's side. From any thread, one call at a time.
class ProgramClient {
 public:
  virtual ~ProgramClient() = default;
  // The first call is one of these two.
  virtual void refuse(Error why) = 0;  // also the last
  virtual void begin(std::shared_ptr<Program> program) = 0;

  virtual void output(bool is_error, std::string_view bytes) = 0;
  virtual void input_taken(std::size_t bytes) = 0;  // of what input() was given
  virtual void end(Result<int> exit_code) = 0;      // the last, after all output
};

class ProgramSource {
 public:
  struct Wanted {
    std::string ns;
    std::string pod;
    std::string uid;
    std::string container;
    std::vector<std::string> command;  // of exec; has at least one element
    bool input = false;
    bool output = false;
    bool error_output = false;
    bool tty = false;
  };
  virtual ~ProgramSource() = default;
  // Any thread. Must not block; the client may be called before the return.
  virtual void exec(Wanted wanted, std::shared_ptr<ProgramClient> client) = 0;
  // Output from now on, not what was written before.
  virtual void attach(Wanted wanted, std::shared_ptr<ProgramClient> client) = 0;
};

}  // namespace muster::server
