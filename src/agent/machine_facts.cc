#include "agent/machine_facts.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/number.h"

namespace muster::agent {
namespace {

std::string first_line(const char* file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string os_name() {
  std::ifstream in("/etc/os-release");
  constexpr std::string_view kKey = "PRETTY_NAME=";
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kKey)) continue;
    std::string name = line.substr(kKey.size());
    std::erase(name, '"');
    return name;
  }
  return "Linux";
}

// Those that this process may use.
std::int64_t cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
}

std::string architecture(std::string_view machine) {
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  return std::string(machine);
}

// /dev/nvidia0, /dev/nvidia1 …; those beside them (nvidiactl, nvidia-uvm) are no devices.
std::vector<std::string> gpus() {
  std::vector<unsigned> numbers;
  constexpr std::string_view kPrefix = "nvidia";
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", failed)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    if (const auto number = parse_number<unsigned>(std::string_view(name).substr(kPrefix.size())))
      numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  std::vector<std::string> out;
  for (const unsigned number : numbers) out.push_back(std::to_string(number));
  return out;
}

}  // namespace

std::vector<int> gpu_majors(const std::string& proc_devices) {
  std::istringstream lines(proc_devices);
  std::set<int> majors;
  for (std::string line; std::getline(lines, line) && line != "Block devices:";) {
    std::istringstream words(line);
    int major = 0;
    std::string name;
    if (words >> major >> name && name.starts_with("nvidia")) majors.insert(major);
  }
  return {majors.begin(), majors.end()};
}

MachineFacts read_machine_facts(const std::string& data_directory) {
  MachineFacts facts;
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  facts.hostname = name[0] == '\0' ? "localhost" : name.data();
  facts.address = "127.0.0.1";
  facts.cpu_millis = cpus() * 1000;
  struct sysinfo memory{};
  if (::sysinfo(&memory) == 0)
    facts.memory_bytes = static_cast<std::int64_t>(memory.totalram) * memory.mem_unit;
  struct statvfs disk{};
  if (::statvfs(data_directory.c_str(), &disk) == 0)
    facts.disk_bytes =
        static_cast<std::int64_t>(disk.f_blocks) * static_cast<std::int64_t>(disk.f_frsize);
  facts.gpus = gpus();
  std::ifstream devices("/proc/devices");
  facts.gpu_majors = gpu_majors({std::istreambuf_iterator<char>(devices), {}});
  utsname system{};
  ::uname(&system);
  facts.architecture = architecture(system.machine);
  facts.kernel = system.release;
  facts.os_image = os_name();
  facts.machine_id = first_line("/etc/machine-id");
  facts.boot_id = first_line("/proc/sys/kernel/random/boot_id");
  return facts;
}

}  // namespace muster::agent
