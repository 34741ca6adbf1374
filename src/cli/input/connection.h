// A server to talk to, for verbs that ask and wait for the answer.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/loop.h"
#include "base/result.h"
#include "cli/follow/lines.h"
#include "cli/input/kind_catalog.h"
#include "cli/input/reconnecting_transport.h"
#include "cli/verbs/verb.h"
#include "client/client.h"
#include "client/kubeconfig.h"

namespace muster::cli {

inline constexpr std::string_view kJsonForm = "application/json";
inline constexpr std::string_view kTableForm =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

// Where the server is: --kubeconfig, --data-dir, $KUBECONFIG, ~/.kube/config, in this order. Fails
// saying how to name one.
Result<client::ServerConfig> find_server(const ServerFlags& flags);

class Connection {
 public:
  static Result<std::unique_ptr<Connection>> open(const ServerFlags& flags);
  static Result<std::unique_ptr<Connection>> open(client::ServerConfig server);
  // For verbs that follow something: it gets over a restart of the server
  // (reconnecting_transport.h). `on_absence` says what happens to it.
  static Result<std::unique_ptr<Connection>> open_reconnecting(const ServerFlags& flags,
                                                               Duration patience);
  void on_absence(std::function<void(std::string_view note)> note,
                  std::function<void(const Error&)> lost);

  // These run the loop until the answer is there; not to be called on the loop.
  Result<std::string> get(std::string target, std::string_view form = kJsonForm);
  Result<std::string> get(const api::Resource& resource, std::string_view name);
  Result<std::string> list(const api::Resource& resource, client::ListOptions options = {});
  Result<std::string> write(const client::Operation& operation);
  // The lines of a watch as they come, until the server ends it, it is cut, or the loop is stopped.
  Status watch(std::string target, std::string_view form, const Lines::Tell& line);

  // What the server serves, by name.
  KindCatalog& kinds() { return kinds_; }
  client::Client& client() { return *client_; }
  client::Transport& transport() { return *transport_; }
  Loop& loop() { return *loop_; }
  const std::string& ns() const { return ns_; }
  const std::string& url() const { return url_; }

 private:
  Connection();
  void join(std::unique_ptr<client::Transport> transport);
  Result<std::string> await(const std::function<void(client::Client::Reply)>& ask);

  KindCatalog kinds_;
  std::string ns_;
  std::string url_;
  std::unique_ptr<Loop> loop_ = make_real_loop();
  std::string data_dir_;  // of the server, if it is one of this machine's
  std::unique_ptr<client::Transport> https_;
  ReconnectingTransport* reconnecting_ = nullptr;
  std::unique_ptr<client::Transport> transport_;
  std::unique_ptr<client::Client> client_;
};

// What a command that got this error ends with.
int exit_code_of(const Error& error);

// "error: …" in words for a person, and the exit code.
int complain(const Error& error);

}  // namespace muster::cli
