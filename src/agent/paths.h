// Where the agent keeps what belongs to pods, below the data directory.
//
//   pods/<uid>/                   volumes, devices; only of pods that have some
//   logs/<ns>_<pod>_<uid>/<container>.<run>.log       (docs/logs.md)
//   messages/                     what runs leave as their last words (message_files.h)
//   gates/<JobSet's uid>_<ConfigMap>_<key>   one per barrier
//   claims/<ns>/<claim>-<uid>/    data of persistentVolumeClaims
//   users, groups/<user>/         of UserBook and GroupFolders
//   names/, runtime/              of Names and of the process runtime
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "agent/logs/log_file.h"

namespace muster::agent {

struct Paths {
  std::string data;

  std::string pods() const { return data + "/pods"; }
  std::string logs() const { return data + "/logs"; }
  std::string messages() const { return data + "/messages"; }
  std::string gates() const { return data + "/gates"; }
  std::string claims() const { return data + "/claims"; }
  std::string names() const { return data + "/names"; }
  std::string runtime() const { return data + "/runtime"; }

  std::string pod(std::string_view uid) const { return fmt::format("{}/{}", pods(), uid); }
  std::string pod_logs(std::string_view ns, std::string_view name, std::string_view uid) const {
    return fmt::format("{}/{}", logs(), pod_log_folder(ns, name, uid));
  }
  std::string claim(std::string_view ns, std::string_view name, std::string_view uid) const {
    return fmt::format("{}/{}/{}-{}", claims(), ns, name, uid);
  }
  std::string log(const LogKey& run) const { return fmt::format("{}/{}", logs(), run.file()); }
};

}  // namespace muster::agent
