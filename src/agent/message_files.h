// The files in which runs leave their last words: <folder>/<uid>_<container>_<run>. One is there
// from the start of its run until the API knows how its pod ended; then another run has it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "runtime/file_recycler.h"
#include "runtime/runtime.h"

namespace muster::agent {

class MessageFiles {
 public:
  explicit MessageFiles(std::string folder);  // with those of an earlier life

  std::string file(const runtime::RunId& run) const;

  // Before the start of a run. The runtime makes and empties the file.
  void expect(const runtime::RunId& run);
  void discard(const std::string& pod_uid);
  void discard_all_but(const std::set<std::string>& pod_uids);

 private:
  const std::string folder_;
  runtime::FileRecycler spares_;
  std::map<std::string, std::set<std::string>> files_;  // by the pod's uid
};

}  // namespace muster::agent
