// The gates that pods of this machine wait at: each file is made and opened once, and goes with the
// last pod that knows it.
#pragma once

#include <map>
#include <string>

#include "agent/node_services.h"

namespace muster::agent {

class GateBook final : public Gates {
 public:
  explicit GateBook(std::string directory) : directory_(std::move(directory)) {}

  void use(const std::string& file) override { ++gates_[file].users; }
  void leave(const std::string& file) override;
  Status make(const std::string& file) override;
  void open(const std::string& file) override;
  void arrive(const std::string& file, int pods) override;
  int arrived(const std::string& file) const override;

  void remove_unused();  // files of pods that went while no agent was there

 private:
  struct Gate {
    bool made = false;
    bool opened = false;
    int arrived = 0;
    int users = 0;
  };
  std::string directory_;
  std::map<std::string, Gate> gates_;  // by file
};

}  // namespace muster::agent
