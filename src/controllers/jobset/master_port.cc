#include "controllers/jobset/master_port.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/stable_hash.h"

namespace muster::controllers::jobset {
namespace {

// Of Jobs that may still have pods.
std::optional<int> held_by(const Child* job) {
  return job == nullptr || job->end != Child::End::kNone ? std::nullopt : job->master_port;
}

}  // namespace

std::optional<int> master_port_of(std::span<const Child* const> active) {
  for (const Child* job : active) {
    if (job->master_port) return job->master_port;
  }
  return std::nullopt;
}

int choose_master_port(std::string_view set_uid, std::int32_t attempt, const PortIsFree& is_free) {
  constexpr int kPorts = kLastMasterPort - kFirstMasterPort + 1;
  const std::uint64_t hash = stable_hash(fmt::format("{}/{}", set_uid, attempt));
  const int start = static_cast<int>(hash % kPorts);
  for (int step = 0; is_free && step < kPorts; ++step) {
    const int port = kFirstMasterPort + (start + step) % kPorts;
    if (is_free(port)) return port;
  }
  return kFirstMasterPort + start;
}

void MasterPorts::changed(const Child* before, const Child* after) {
  if (!shared()) return;
  if (const auto port = held_by(before); port && --jobs_[*port] == 0) jobs_.erase(*port);
  if (const auto port = held_by(after)) ++jobs_[*port];
}

GivenPort MasterPorts::take(const PortRequest& request) {
  const int port = choose_master_port(request.set_uid, request.attempt,
                                      [this](int candidate) { return is_free(candidate); });
  taken_.push_back(port);
  if (taken_.size() > kMostTaken) taken_.pop_front();
  return {.request = request, .port = port};
}

bool MasterPorts::is_free(int port) const {
  return !jobs_.contains(port) && std::ranges::find(taken_, port) == taken_.end() && machine_(port);
}

}  // namespace muster::controllers::jobset
