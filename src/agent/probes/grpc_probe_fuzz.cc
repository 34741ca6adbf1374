// A gRPC server that a pod runs may say anything: the answer must be read to an end within its
// bounds, and mean the same in whatever pieces it comes.
#include "agent/probes/grpc_probe.h"

namespace {

using muster::agent::ProbeOutcome;

std::string heard_in_pieces(std::string_view bytes, std::size_t piece) {
  const auto protocol = muster::agent::make_grpc_protocol({.address = "a:1", .service = "s"});
  std::string say;
  protocol->connected(say);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    if (const auto outcome = protocol->heard(bytes.substr(0, piece), say)) return outcome->text;
  }
  return protocol->ended(muster::agent::Protocol::End::kLost, "").text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size > 32 * 1024) return 0;  // too long an answer is told as soon as it is seen
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = heard_in_pieces(bytes, size + 1);
  MUSTER_ASSERT(heard_in_pieces(bytes, 1) == whole, "pieces make no difference");
  return 0;
}
