// The gates that pods of this machine wait at: each file is made and opened once, and goes with the
// last pod that knows it.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace muster::agent {

class GateFiles {
 public:
  explicit GateFiles(std::string directory) : directory_(std::move(directory)) {}

  void use(const std::string& file) { ++gates_[file].users; }  // by one more pod of this node
  void leave(const std::string& file);
  // Once per file; what failed may be tried again.
  Status make(const std::string& file);
  Status open(const std::string& file);

  void remove_unused();  // files of pods that went while no agent was there

 private:
  struct Gate {
    bool made = false;
    bool opened = false;
    int users = 0;
  };
  std::string directory_;
  std::map<std::string, Gate> gates_;  // by file
};

}  // namespace muster::agent
