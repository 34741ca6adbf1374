// One run of a JobSet: from the first create to the JobSet's end, or to the second Ctrl-C.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "cli/follow/follow.h"
#include "cli/input/manifest.h"
#include "client/client.h"

namespace muster::cli {

// What is run, and how.
struct RunPlan {
  Manifest manifest;
  FollowOptions follow;
  bool progress = true;
  bool is_private = false;  // the server is ours and ends with us
  bool can_detach = true;   // the server goes on without us
  std::string server;       // the flags by which other verbs find the server, behind a space
  std::string watch;        // what to type to look on; empty: everybody knows
  std::string make_room;    // what to do about a JobSet that is there already, if not the usual
};

class JobSetRun {
 public:
  // On the transport's loop, which it stops when all is over.
  JobSetRun(client::Transport& transport, RunPlan plan);
  ~JobSetRun();

  void begin() { create_next(); }
  int exit_code() const;
  // The JobSet is still there, and will be.
  bool has_left_something() const { return follow_ && !stopping_ && !follow_->is_deleted(); }

  void signalled(int number);
  void detach();
  void note(std::string_view line) { screen_.note(line); }
  void lost_server(const Error& why);

 private:
  void create_next();
  void make_namespace(const std::string& name);
  void took(std::string_view answer);
  void refused(const Error& error);
  // Prints it; the exit code.
  int explain(const ManifestObject& object, const Error& error) const;
  void apply(const ManifestObject& object);
  void follow();
  void over(int code);
  void stop();
  void end_if_stopped();
  void kill();
  void output_failed(int error_number);
  void end(int code);
  void limit_flush();

  Loop& loop_;
  client::Client client_;
  RunPlan plan_;
  Screen screen_;
  std::size_t created_ = 0;
  std::set<std::string> namespaces_ = {"default"};  // that are there
  std::optional<Follow> follow_;
  int signals_ = 0;
  Duration stopping_since_{};
  bool stopping_ = false;
  bool ending_ = false;  // what is left is to show the last lines
  bool output_lost_ = false;
  TimerId flush_limit_ = TimerId::kNone;
  int exit_code_;
};

}  // namespace muster::cli
