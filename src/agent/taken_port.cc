#include "agent/taken_port.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/number.h"
#include "runtime/pod_of_process.h"

namespace muster::agent {
namespace {

using json::Value;

constexpr Duration kRecent = std::chrono::milliseconds(100);
constexpr std::size_t kMostPorts = 64;  // that a log speaks of, or a container declares

bool is_port(int number) { return number > 0 && number < 65'536; }

void add_port(std::vector<int>& ports, int number) {
  if (is_port(number) && ports.size() < kMostPorts &&
      std::ranges::find(ports, number) == ports.end())
    ports.push_back(number);
}

std::string_view variable(Value container, std::string_view name) {
  for (const Value each : container.get("env").items()) {
    if (each.get("name").as_string() == name) return each.get("value").as_string();
  }
  return {};
}

int port_in(std::string_view text) { return parse_number<int>(text).value_or(0); }

int master_port(Value container) { return port_in(variable(container, "MASTER_PORT")); }

// In the words of the C library, Node.js, Go, Java, PyTorch.
bool complains(std::string_view line) {
  return line.find("address already in use") != line.npos || line.find("eaddrinuse") != line.npos;
}

// Whether what ends here introduces a port: "…:", "port ", "port: ", "port=".
bool introduces_port(std::string_view before) {
  // Of a time of day: 12:34:56.
  const auto is_time = [](std::string_view text) {
    return text.size() >= 4 && text.ends_with(':') && is_digit(text[text.size() - 2]) &&
           is_digit(text[text.size() - 3]) && !is_digit(text[text.size() - 4]) &&
           text[text.size() - 4] != '.';
  };
  if (before.ends_with(':')) return !is_time(before);
  while (!before.empty() && (before.back() == ' ' || before.back() == ':' || before.back() == '='))
    before.remove_suffix(1);
  return before.ends_with("port");
}

void add_ports_in(std::string_view line, std::vector<int>& ports) {
  for (std::size_t at = 0; at < line.size();) {
    if (!is_digit(line[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < line.size() && is_digit(line[at])) ++at;
    if (introduces_port(line.substr(0, begin)))
      add_port(ports, port_in(line.substr(begin, at - begin)));
  }
}

const PortUser* first_in_the_way(const std::vector<PortUser>& users, const std::string& pod_ip) {
  const auto found = std::ranges::find_if(users, [&](const PortUser& user) {
    const Listener& socket = user.holder.socket;
    return socket.any_address || socket.address == pod_ip;
  });
  return found == users.end() ? nullptr : &*found;
}

std::string text_of(int port, const PortUser& user) {
  const PortHolder& holder = user.holder;
  return fmt::format(
      "port {} is taken by {}", port,
      user.pod.empty() ? describe(holder)
                       : fmt::format("pod {} ({}, pid {})", user.pod, holder.process, holder.pid));
}

}  // namespace

std::vector<PortUser> port_users_of_this_machine(int port) {
  std::vector<PortUser> users;
  for (PortHolder& holder : port_holders(port)) {
    const auto pod = runtime::pod_of_process(holder.pid);
    users.push_back({.holder = std::move(holder), .pod = pod ? pod->name : ""});
  }
  return users;
}

const std::vector<PortUser>& PortUsers::of(int port) {
  if (clock_.now() - since_ >= kRecent) {
    found_.clear();
    since_ = clock_.now();
  }
  const auto known = found_.find(port);
  return known != found_.end() ? known->second : found_[port] = ask_(port);
}

std::vector<int> declared_ports(const FailedContainer& failed) {
  std::vector<int> ports;
  for (const Value port : failed.container.get("ports").items()) {
    const std::string_view protocol = port.get("protocol").as_string();
    if (protocol.empty() || protocol == "TCP")
      add_port(ports, static_cast<int>(port.get("containerPort").as_int()));
  }
  const std::string_view master = variable(failed.container, "MASTER_ADDR");
  if (!failed.hostname.empty() && master.substr(0, master.find('.')) == failed.hostname)
    add_port(ports, master_port(failed.container));
  return ports;
}

std::optional<std::vector<int>> ports_complained_of(std::string_view log) {
  std::optional<std::vector<int>> ports;
  const std::string text = lower_case(log);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (!complains(line)) continue;
    if (!ports) ports.emplace();
    add_ports_in(line, *ports);
  }
  return ports;
}

std::string taken_port(const FailedContainer& failed, PortUsers& users) {
  std::vector<int> ports = declared_ports(failed);
  const auto complaint = ports_complained_of(failed.last_lines);
  if (complaint) {
    // What it says itself comes first; then what it may have meant.
    ports.insert(ports.begin(), complaint->begin(), complaint->end());
    ports.push_back(master_port(failed.container));
  }
  for (const int port : ports) {
    if (!is_port(port)) continue;
    const std::vector<PortUser>& found = users.of(port);
    const PortUser* user = first_in_the_way(found, failed.pod_ip);
    // Who wants all addresses is in the way of each.
    if (user == nullptr && complaint && !found.empty()) user = &found.front();
    if (user != nullptr) return text_of(port, *user);
  }
  return {};
}

}  // namespace muster::agent
