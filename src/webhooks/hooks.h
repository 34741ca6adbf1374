// The admission webhooks that muster serves on a real cluster, under upstream's names and paths
// (spec: jobset 2), and how an API server is told of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace muster::webhooks {

struct Hook {
  std::string_view name;
  std::string_view path;
  bool mutates = false;
  std::string_view group;
  std::string_view version;
  std::string_view plural;
  bool on_update = false;  // else on create only
  std::string_view label;  // asked only about objects that carry it; empty: about all
};

std::span<const Hook> all_hooks();
const Hook* find_hook(std::string_view path);  // null pointer if there is none

struct Endpoint {
  std::string url;     // https://host:port, without a path
  std::string ca_pem;  // who signed its certificate
  // Where muster itself lives: what happens there never waits for it.
  std::string ns;
};

// A MutatingWebhookConfiguration and a ValidatingWebhookConfiguration.
std::vector<json::Value> configurations(json::Arena& arena, const Endpoint& endpoint);

}  // namespace muster::webhooks
