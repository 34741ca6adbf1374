// Why a program may have failed: a port that it needs is held by another. Found out when it has
// ended, so the other one may have gone meanwhile, or come.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/port_holder.h"
#include "base/clock.h"
#include "json/value.h"

namespace muster::agent {

struct PortUser {
  PortHolder holder;
  std::string pod;  // namespace/name; empty: of no pod, or of none that may be looked at
};
std::vector<PortUser> port_users_of_this_machine(int port);

// The pods of a gang that meet a taken port fail together, and looking through all processes of a
// machine takes milliseconds: what was found holds for a moment.
class PortUsers {
 public:
  using Ask = std::function<std::vector<PortUser>(int port)>;
  PortUsers(const Clock& clock, Ask ask) : clock_(clock), ask_(std::move(ask)) {}
  const std::vector<PortUser>& of(int port);  // valid until the next call

 private:
  const Clock& clock_;
  Ask ask_;
  Time since_{};
  std::map<int, std::vector<PortUser>> found_;
};

struct FailedContainer {
  json::Value container;  // its spec
  std::string pod_ip;
  std::string hostname;
  std::string last_lines;  // of its log
};
// "port 8080 is taken by pod team/web-0 (python3, pid 4711)"; empty if no port that it needs is. If
// the program did not speak of an address in use, only its declared ports count, and only if it
// could not have had them.
std::string taken_port(const FailedContainer& failed, PortUsers& users);

// The ports that it says it listens at: its containerPorts, and MASTER_PORT if it is the master.
std::vector<int> declared_ports(const FailedContainer& failed);
// Those that lines about an address in use name; nothing if there are no such lines.
std::optional<std::vector<int>> ports_complained_of(std::string_view log);

}  // namespace muster::agent
