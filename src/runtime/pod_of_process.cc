#include "runtime/pod_of_process.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "runtime/journal.h"
#include "runtime/keeper.h"
#include "runtime/process_identity.h"

namespace muster::runtime {
namespace {

// More ancestors than any sane process has; parents may change while we look.
constexpr int kMostAncestors = 1'000;

// The directory of the keeper whose child this is: shims have its command line. Their open files
// would tell more, but nobody may look into them (keeper_main.cc).
std::optional<std::string> keeper_directory(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(std::move(word));
  const auto keeper = std::ranges::find(words, "keeper");
  if (words.end() - keeper < 2) return std::nullopt;
  return keeper[1];
}

// What a program of a pod has made to look like a journal must neither stop nor fill us.
bool is_own_file(const std::string& path) {
  struct stat facts{};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         facts.st_uid == ::geteuid();
}

std::optional<PodSpec> pod_of_shim(pid_t pid) {
  const auto directory = keeper_directory(pid);
  if (!directory) return std::nullopt;
  const auto shim = identity_of(pid);
  const std::string folder = pods_folder(*directory);
  for (const std::string& uid : journals_in(folder)) {
    if (!is_own_file(journal_file(folder, uid))) continue;
    PodRecord record = read_journal(folder, uid);
    if (record.shim == shim) return std::move(record.pod);
  }
  return std::nullopt;
}

}  // namespace

// Shims adopt what loses its parent, so the way up from any process of a pod leads to its shim.
std::optional<PodSpec> pod_of_process(pid_t pid) {
  for (int step = 0; pid > 1 && step < kMostAncestors; ++step, pid = parent_of(pid)) {
    if (auto pod = pod_of_shim(pid)) return pod;
  }
  return std::nullopt;
}

}  // namespace muster::runtime
