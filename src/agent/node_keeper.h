// One Node object and its Lease: made, brought up to date and kept alive (pod-lifecycle 8.1).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/node_object.h"
#include "base/lifetime.h"
#include "client/client.h"

namespace muster::agent {

class NodeKeeper {
 public:
  // References outlive it.
  NodeKeeper(client::Client& client, const api::Registry& registry, const MachineFacts& facts,
             const std::vector<runtime::Ability>& abilities, NodeShare share);
  ~NodeKeeper();
  NodeKeeper(const NodeKeeper&) = delete;

  void start();
  const NodeShare& share() const { return share_; }

 private:
  void create();
  void adjust();  // labels of a Node that was there; foreign ones stay
  void send_status();
  void check_status();  // somebody may have taken us for dead
  void renew_lease();
  void create_lease();
  std::string lease_body();
  void after(Duration delay, void (NodeKeeper::*then)());
  void ask(client::Operation operation, void (NodeKeeper::*answered)(Result<std::string>));
  void created(Result<std::string> answer);
  void adjusted(Result<std::string> answer);
  void status_sent(Result<std::string> answer);
  void lease_renewed(Result<std::string> answer);
  void lease_created(Result<std::string> answer);
  void failed(const char* what, const Error& error);
  Time now() const { return client_.loop().clock().now(); }

  client::Client& client_;
  const api::Resource& nodes_;
  const api::Resource& leases_;
  const MachineFacts& facts_;
  const std::vector<runtime::Ability>& abilities_;
  const NodeShare share_;
  std::string uid_;
  std::string status_;  // as the API has it
  Time status_sent_at_{};
  bool leasing_ = false;
  Lifetime lifetime_;
};

}  // namespace muster::agent
