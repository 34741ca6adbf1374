// The gates that pods of this machine wait at: each file is made and opened once.
#pragma once

#include <map>
#include <string>

#include "agent/node_services.h"

namespace muster::agent {

class GateBook final : public Gates {
 public:
  explicit GateBook(std::string directory) : directory_(std::move(directory)) {}

  Status make(const std::string& file) override;
  void open(const std::string& file) override;
  void arrive(const std::string& file, int pods) override;
  int arrived(const std::string& file) const override;

  void remove_all(std::string_view config_map_uid);  // the ConfigMap is gone

 private:
  struct Gate {
    bool made = false;
    bool opened = false;
    int arrived = 0;
  };
  std::string directory_;
  std::map<std::string, Gate> gates_;  // by file
};

}  // namespace muster::agent
