#include "runtime/pod_of_process.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/journal.h"
#include "runtime/process_identity.h"

namespace muster::runtime {
namespace {

// More ancestors than any sane process has; parents may change while we look.
constexpr int kMostAncestors = 1'000;

// What a program of a pod has made to look like a journal must neither stop nor fill us.
bool is_own_file(const std::filesystem::path& path) {
  struct stat facts{};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         facts.st_uid == ::geteuid();
}

// A shim has the journal of its pod open.
std::optional<PodSpec> pod_of_shim(pid_t pid) {
  std::error_code error;
  const std::filesystem::path open_files = fmt::format("/proc/{}/fd", pid);
  for (std::filesystem::directory_iterator entry(open_files, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code closed;
    const std::filesystem::path file = std::filesystem::read_symlink(entry->path(), closed);
    if (closed || file.extension() != kJournalSuffix || !is_own_file(file)) continue;
    PodRecord record = read_journal(file.parent_path(), file.stem());
    if (record.shim == identity_of(pid)) return std::move(record.pod);
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
