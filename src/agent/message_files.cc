#include "agent/message_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

namespace muster::agent {

MessageFiles::MessageFiles(std::string folder) : folder_(std::move(folder)), spares_(folder_) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, none)) {
    const std::string name = entry.path().filename();
    const std::size_t uid_end = name.find('_');
    if (uid_end != std::string::npos) files_[name.substr(0, uid_end)].insert(entry.path());
  }
}

std::string MessageFiles::file(const runtime::RunId& run) const {
  return fmt::format("{}/{}_{}_{}", folder_, run.pod_uid, run.container, run.number);
}

// Of the run before the last one nothing is told any more (a status has two).
void MessageFiles::expect(const runtime::RunId& run) {
  std::set<std::string>& files = files_[run.pod_uid];
  const std::string old = file({run.pod_uid, run.container, run.number - 2});
  if (files.erase(old) > 0) spares_.keep(old);
  const std::string fresh = file(run);
  spares_.use_for(fresh);
  files.insert(fresh);
}

void MessageFiles::discard(const std::string& pod_uid) {
  const auto pod = files_.find(pod_uid);
  if (pod == files_.end()) return;
  for (const std::string& file : pod->second) spares_.keep(file);
  files_.erase(pod);
}

void MessageFiles::discard_all_but(const std::set<std::string>& pod_uids) {
  std::vector<std::string> others;
  for (const auto& [uid, files] : files_) {
    if (!pod_uids.contains(uid)) others.push_back(uid);
  }
  for (const std::string& uid : others) discard(uid);
}

}  // namespace muster::agent
