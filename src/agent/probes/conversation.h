// A short talk over one TCP connection, on the thread of a reactor: connect, say something, listen
// until the protocol has made up its mind.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/probes/attempt.h"
#include "base/loop.h"
#include "net/reactor.h"

namespace muster::agent {

// What is said and what it means. Knows no sockets; used on the reactor's thread only.
class Protocol {
 public:
  virtual ~Protocol() = default;
  // Each may add to what is to be sent. An outcome ends the conversation.
  virtual std::optional<ProbeOutcome> connected(std::string& say) = 0;
  virtual std::optional<ProbeOutcome> heard(std::string_view bytes, std::string& say) = 0;

  enum class End : std::uint8_t { kUnreachable, kLost, kTimeout };
  virtual ProbeOutcome ended(End how, std::string_view why) = 0;
};

struct Peer {
  std::string host;  // a name or a numeric address
  std::uint16_t port = 0;
};

std::unique_ptr<Attempt> start_conversation(Loop& loop,
                                            const std::shared_ptr<net::Reactor>& reactor,
                                            const Peer& peer, Duration timeout,
                                            std::unique_ptr<Protocol> protocol, ProbeDone done);

// net's "cannot connect: Connection refused" in the words that people know: "connect: connection
// refused".
std::string connect_failure(std::string_view message);

}  // namespace muster::agent
