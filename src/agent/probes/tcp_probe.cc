#include "agent/probes/tcp_probe.h"

#include <fmt/format.h>

namespace muster::agent {
namespace {

class TcpProtocol final : public Protocol {
 public:
  explicit TcpProtocol(std::string address) : address_(std::move(address)) {}

  std::optional<ProbeOutcome> connected(std::string&) override { return ProbeOutcome{}; }
  std::optional<ProbeOutcome> heard(std::string_view, std::string&) override {
    return ProbeOutcome{};
  }
  ProbeOutcome ended(End how, std::string_view why) override {
    if (how == End::kTimeout) why = "i/o timeout";
    return {ProbeResult::kFailure, fmt::format("dial tcp {}: {}", address_, why)};
  }

 private:
  const std::string address_;
};

}  // namespace

std::unique_ptr<Protocol> make_tcp_protocol(std::string address) {
  return std::make_unique<TcpProtocol>(std::move(address));
}

}  // namespace muster::agent
