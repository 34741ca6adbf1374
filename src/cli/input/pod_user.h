// The user of pods, if it differs from the one that started the server or the run.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/pod_policy.h"
#include "json/value.h"

namespace muster::cli {

struct OtherUser {
  std::string name;    // or number
  bool asked = false;  // --pod-user named him
  bool enters = true;  // he can work in this folder
  std::string folder;  // this one
};

// Of a server that ends with us. Nothing if pods run as who we are.
Result<std::optional<OtherUser>> other_user(const engine::PodPolicy& policy);

// The first word of a command that `exists` in this folder, among containers that do not work in
// another one; empty if there is none. Pure.
std::string needed_here(json::Value job_set, const std::function<bool(const std::string&)>& exists);

// The line that a server prints about its pods' user; empty if that is the server's own user and
// nothing else was to be expected.
std::string remark_on_server(const engine::PodPolicy& policy, const agent::Identity& identity);

// The line at the start of a run; empty if there is nothing to say. Pure.
std::string remark_on(const OtherUser& user);
// Why a run that needs a file of the folder does not start, and what helps. Pure.
std::string refusal_for(const OtherUser& user, const std::string& file);

}  // namespace muster::cli
