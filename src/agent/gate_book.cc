#include "agent/gate_book.h"

#include <filesystem>

#include "base/log.h"
#include "runtime/gate.h"

namespace muster::agent {

Status GateBook::make(const std::string& file) {
  Gate& gate = gates_[file];
  if (gate.made) return {};
  std::error_code failed;
  std::filesystem::create_directories(directory_, failed);
  MUSTER_CHECK(runtime::make_gate(file));
  gate.made = true;
  return {};
}

void GateBook::open(const std::string& file) {
  if (file.empty() || std::exchange(gates_[file].opened, true)) return;
  if (const Status opened = runtime::open_gate(file); !opened)
    log::error("cannot open a gate", {{"file", file}, {"error", opened.error().message}});
}

void GateBook::arrive(const std::string& file, int pods) {
  if (!file.empty()) gates_[file].arrived += pods;
}

int GateBook::arrived(const std::string& file) const {
  const auto at = gates_.find(file);
  return at == gates_.end() ? 0 : at->second.arrived;
}

void GateBook::remove_all(std::string_view config_map_uid) {
  const std::string prefix = fmt::format("{}/{}_", directory_, config_map_uid);
  for (auto at = gates_.lower_bound(prefix); at != gates_.end() && at->first.starts_with(prefix);) {
    std::error_code ignored;
    std::filesystem::remove(at->first, ignored);
    at = gates_.erase(at);
  }
}

}  // namespace muster::agent
