// One run of a JobSet: creates what a manifest has, and follows the JobSet in a Session.
#pragma once

#include <set>
#include <string>

#include "cli/follow/session.h"
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
  // On the transport's loop, which the session stops when all is over.
  JobSetRun(client::Transport& transport, RunPlan plan);

  void begin() { create_next(); }
  Session& session() { return session_; }

 private:
  void create_next();
  void make_namespace(const std::string& name);
  void took(std::string_view answer);
  void refused(const Error& error);
  // Prints it; the exit code.
  int explain(const ManifestObject& object, const Error& error) const;
  void apply(const ManifestObject& object);
  void follow();

  client::Client client_;
  RunPlan plan_;
  Session session_;
  std::size_t created_ = 0;
  std::set<std::string> namespaces_ = {"default"};  // that are there
};

}  // namespace muster::cli
