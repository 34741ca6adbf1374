// What this machine has and is, read once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::agent {

struct MachineFacts {
  std::string hostname;
  std::string address;  // of the node, as pods and clients of this machine reach it
  std::int64_t cpu_millis = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t disk_bytes = 0;    // of the file system that holds the data directory
  std::vector<std::string> gpus;  // as CUDA_VISIBLE_DEVICES names them
  std::vector<int> gpu_majors;    // of the device files through which they are used
  std::string architecture;       // amd64, arm64
  std::string kernel;
  std::string os_image;
  std::string machine_id;
  std::string boot_id;
};

// Those of NVIDIA's drivers in /proc/devices, each once.
std::vector<int> gpu_majors(const std::string& proc_devices);

MachineFacts read_machine_facts(const std::string& data_directory);

}  // namespace muster::agent
