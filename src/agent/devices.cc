#include "agent/devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <set>

namespace muster::agent {

std::optional<std::vector<std::string>> Devices::take(const std::string& pod_uid,
                                                      std::size_t count) {
  std::set<std::string> busy;
  for (const auto& [uid, devices] : taken_) busy.insert(devices.begin(), devices.end());
  std::vector<std::string> mine;
  for (const std::string& device : all_) {
    if (mine.size() < count && !busy.contains(device)) mine.push_back(device);
  }
  if (mine.size() < count) return std::nullopt;
  if (count > 0) taken_[pod_uid] = mine;
  return mine;
}

void Devices::take_again(const std::string& pod_uid, std::vector<std::string> devices) {
  if (!devices.empty()) taken_[pod_uid] = std::move(devices);
}

Status write_devices(const std::string& pod_directory, const std::vector<std::string>& devices) {
  if (devices.empty()) return {};
  const std::string file = pod_directory + "/devices";
  std::ofstream out(file);
  for (const std::string& device : devices) out << device << '\n';
  out.close();
  if (!out) return fail(Code::kInternal, fmt::format("cannot write {}", file));
  return {};
}

std::vector<std::string> read_devices(const std::string& pod_directory) {
  std::ifstream in(pod_directory + "/devices");
  std::vector<std::string> devices;
  for (std::string line; std::getline(in, line);) devices.push_back(line);
  return devices;
}

std::vector<std::string> device_environment(const std::vector<std::string>& devices) {
  const std::string list = fmt::format("{}", fmt::join(devices, ","));
  return {"CUDA_VISIBLE_DEVICES=" + list, "NVIDIA_VISIBLE_DEVICES=" + list};
}

}  // namespace muster::agent
