// The commands of `muster`, each in its own file with its flags beside it.
#pragma once

#include <string>
#include <vector>

#include "cli/input/node_flags.h"
#include "cli/verbs/verb.h"

namespace muster::cli {

struct ServeOptions {
  std::string data_dir;
  std::string listen = "127.0.0.1:0";
  bool allow_remote = false;  // an address other than loopback needs this as well (S1)
  std::string kubeconfig_out;
  std::string controllers = "*";
  std::string feature_gates;
  std::string config_file;
  std::vector<std::string> names;
  NodeFlags node;
};

Verb apply_verb();
Verb attach_verb();
Verb backup_verb();
Verb cancel_verb();
Verb check_verb();
Verb completion_verb();
Verb delete_verb();
Verb describe_verb();
Verb doctor_verb();
Verb events_verb();
Verb example_verb();
Verb get_verb();
Verb graph_verb();
Verb install_verb();
Verb logs_verb();
Verb operator_verb();
Verb restore_verb();
Verb run_verb();
Verb serve_verb();
Verb sim_verb();
Verb submit_verb();
Verb timeline_verb();
Verb tool_verb();
Verb top_verb();
Verb version_verb();
Verb wait_verb();

}  // namespace muster::cli
