#include "cli/node_flags.h"

#include <fmt/format.h>

#include <charconv>

#include "cli/terminal_text.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kMaxNodes = 1000;  // of one machine: each has a lease to renew

struct Pair {
  std::string key;
  std::string value;
};

Result<Pair> parse_pair(std::string_view flag, std::string_view text) {
  const std::size_t equal = text.find('=');
  if (equal == text.npos || equal == 0)
    return fail(Code::kInvalid, fmt::format("{} {}: it takes KEY=VALUE", flag, plain_text(text)));
  return Pair{std::string(text.substr(0, equal)), std::string(text.substr(equal + 1))};
}

Result<std::int64_t> parse_amount(std::string_view text) {
  std::int64_t amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (error != std::errc() || end != text.data() + text.size() || amount < 0)
    return fail(Code::kInvalid,
                fmt::format("--node-resource: \"{}\" is no whole number", plain_text(text)));
  return amount;
}

}  // namespace

std::vector<Flag> with_node_flags(NodeFlags& node, std::vector<Flag> flags) {
  flags.push_back({"--nodes", &node.nodes,
                   "Carve so many nodes, node-0 and on, out of this machine [one, by its name]"});
  flags.push_back({"--node-label", &node.labels, "KEY=VALUE on every node"});
  flags.push_back({"--node-resource", &node.resources,
                   "NAME=AMOUNT: something more that pods may ask for, per node"});
  flags.push_back({"--pod-user", &node.pod_user,
                   "Who runs pods that ask for nobody, when muster is started as root"});
  return flags;
}

Result<agent::NodeOptions> node_options(const NodeFlags& flags) {
  agent::NodeOptions options;
  if (flags.nodes < 0 || flags.nodes > kMaxNodes)
    return fail(Code::kInvalid, fmt::format("--nodes: at most {}", kMaxNodes));
  options.count = static_cast<int>(flags.nodes);
  for (const std::string& text : flags.labels) {
    MUSTER_TRY(Pair label, parse_pair("--node-label", text));
    options.labels[label.key] = std::move(label.value);
  }
  for (const std::string& text : flags.resources) {
    MUSTER_TRY(const Pair resource, parse_pair("--node-resource", text));
    MUSTER_TRY(options.extra_resources[resource.key], parse_amount(resource.value));
  }
  return options;
}

}  // namespace muster::cli
