// The Kubernetes API over a store, without sockets: routing, authentication, authorisation,
// admission and the REST rules of every verb. net/ hands it requests from the network, client/ from
// inside the process.
//
// Reads are answered from the store's newest snapshot on the calling thread. Writes are computed
// there, too, submitted to the store, and computed again on the fresh state if somebody else was
// faster. See docs/life-of-a-request.md.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/feature_gates.h"
#include "api/schema/registry.h"
#include "api/schema/version.h"
#include "base/clock.h"
#include "base/http.h"
#include "base/metrics.h"
#include "server/identity.h"
#include "store/store.h"

namespace muster::server {

struct Token {
  std::string secret;
  User user;
};

struct VersionInfo {
  std::string git_version = api::kGitVersion;
  std::string git_commit;
  std::string build_date = "1970-01-01T00:00:00Z";
};

// Where the text of pods' logs comes from; implemented by the node agent.
class LogSource {
 public:
  struct Wanted {
    std::string ns;
    std::string pod;
    std::string uid;
    std::string container;
    // Which run of the container, by the pod's status: the restarts that there were before it.
    int run = 0;
    std::string container_id;  // of that run, as the status has it
    bool follow = false;
    bool previous = false;
    bool timestamps = false;
    std::optional<std::int64_t> since_seconds;
    std::optional<Time> since_time;
    std::optional<std::int64_t> tail_lines;
    std::optional<std::int64_t> limit_bytes;
  };
  virtual ~LogSource() = default;
  // Answers the exchange, at once or as a stream, from any thread. Must not block.
  virtual void serve(Wanted wanted, std::shared_ptr<http::Exchange> exchange) = 0;
};

class ProgramSource;  // server/program_source.h

struct Options {
  std::vector<Token> tokens;
  bool anonymous = true;       // requests without credentials are system:anonymous; else 401
  bool impersonation = false;  // Impersonate-* headers of system:masters are honoured
  std::uint64_t seed = 1;      // of uids and generated names; pass real randomness outside tests
  VersionInfo version;
  admission::FeatureGates gates;
  LogSource* logs = nullptr;          // outlives the server
  ProgramSource* programs = nullptr;  // likewise; for exec and attach
  // A keyed hash (HMAC-SHA256) under a key that only this server has, for tokens of service
  // accounts. Any thread. Without it no such tokens are issued or accepted.
  std::function<std::string(std::string_view text)> sign_token;
  // Requests being answered at once, until the client has taken the answer; more are told to come
  // back (429). Watches and logs do not count.
  std::size_t max_requests_in_flight = 1'000;
  // Memory of answers that clients have not taken yet: of all, and one user's share of it, so that
  // nobody can take all (base/byte_pool.h). Past a bound the oldest answer that has been under way
  // for longer than unsent_patience is cut; if there is none a read is told to come back (429) and
  // a watch waits.
  std::size_t max_unsent_bytes = 512u << 20;
  std::size_t max_user_unsent_bytes = 128u << 20;
  Duration unsent_patience = std::chrono::seconds(5);
};

class ApiServer {
 public:
  // All references outlive the server.
  ApiServer(store::Store& store, const api::Registry& registry, const Clock& clock,
            Metrics& metrics, Options options);
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;

  // From any thread, for many exchanges at once. The exchange's peer and headers say who asks.
  void handle(std::shared_ptr<http::Exchange> exchange);
  // Judges a request by its header, so that the body of one that is refused need not be read: the
  // name of the user who sends it, or the answer. The request is judged again when it is handled.
  std::expected<std::string, http::Response> check_header(const http::Request& header);
  // The same as handle() for a caller inside the process, whose identity needs no proof.
  void handle_as(std::shared_ptr<http::Exchange> exchange, User user);
  // Several writes (create, update, patch, delete and subresources such as a pod's binding) in one
  // transaction: all of them or none. For callers inside the process; no request of a client leads
  // here. All exchanges must have the same thread. Each is answered as if it came alone. If one of
  // them is refused, it gets its own error and each other one a 409 that names it. If the list is
  // (store::Options::max_list, a full queue, the disk), all get the same error. Each object may be
  // written once. Admission sees the state before the list. The list counts as one request in
  // flight.
  void handle_together(std::vector<std::shared_ptr<http::Exchange>> exchanges, const User& user);

  // Why the server cannot do its work (shown by /readyz); empty when all is well. Any thread.
  void set_not_ready(std::string why);
  // Host and port that clients use, for discovery; once they are known. Any thread.
  void set_server_address(std::string address);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace muster::server
