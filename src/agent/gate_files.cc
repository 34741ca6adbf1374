#include "agent/gate_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "runtime/gate.h"

namespace muster::agent {

Status GateFiles::make(const std::string& file) {
  Gate& gate = gates_[file];
  if (gate.made) return {};
  std::error_code failed;
  std::filesystem::create_directories(directory_, failed);
  if (failed)
    return fail(Code::kInternal, fmt::format("cannot make {}: {}", directory_, failed.message()));
  MUSTER_CHECK(runtime::make_gate(file));
  gate.made = true;
  return {};
}

Status GateFiles::open(const std::string& file) {
  Gate& gate = gates_[file];
  if (gate.opened) return {};
  MUSTER_CHECK(runtime::open_gate(file));
  gate.opened = true;
  return {};
}

void GateFiles::leave(const std::string& file) {
  const auto at = gates_.find(file);
  if (at == gates_.end() || --at->second.users > 0) return;
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  gates_.erase(at);
}

void GateFiles::remove_unused() {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, none)) {
    if (!gates_.contains(entry.path())) std::filesystem::remove(entry.path(), none);
  }
}

}  // namespace muster::agent
