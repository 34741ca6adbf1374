// Which GPU belongs to which pod. A pod keeps its devices as long as a process of it may live, also
// over restarts of the agent: they are noted in the pod's directory.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace muster::agent {

class Devices {
 public:
  explicit Devices(std::vector<std::string> all) : all_(std::move(all)) {}

  // The first that are free; nothing if there are too few.
  std::optional<std::vector<std::string>> take(const std::string& pod_uid, std::size_t count);
  // As an earlier agent gave them.
  void take_again(const std::string& pod_uid, std::vector<std::string> devices);
  void give_back(const std::string& pod_uid) { taken_.erase(pod_uid); }

 private:
  std::vector<std::string> all_;
  std::map<std::string, std::vector<std::string>> taken_;
};

// The note in the pod's directory; none if it has no devices.
Status write_devices(const std::string& pod_directory, const std::vector<std::string>& devices);
std::vector<std::string> read_devices(const std::string& pod_directory);

// As programs read them. Without devices they see none.
std::vector<std::string> device_environment(const std::vector<std::string>& devices);

}  // namespace muster::agent
