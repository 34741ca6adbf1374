// For tests only: objects that pods refer to.
//
//   FakeObjects objects;
//   objects.config_maps["d/c"] = R"({"data": {"k": "v"}})";
#pragma once

#include <deque>
#include <map>
#include <string>

#include "agent/inputs/objects.h"
#include "json/testing.h"

namespace muster::agent {

struct FakeObjects : Objects {
  using ByName = std::map<std::string, std::string>;  // "ns/name" to JSON
  ByName config_maps;
  ByName secrets;
  ByName claims;

  json::Value config_map(std::string_view ns, std::string_view name) const override {
    return find(config_maps, ns, name);
  }
  json::Value secret(std::string_view ns, std::string_view name) const override {
    return find(secrets, ns, name);
  }
  json::Value volume_claim(std::string_view ns, std::string_view name) const override {
    return find(claims, ns, name);
  }

 private:
  json::Value find(const ByName& objects, std::string_view ns, std::string_view name) const {
    const auto at = objects.find(std::string(ns) + "/" + std::string(name));
    return at == objects.end() ? json::Value() : trees_.emplace_back(at->second).root;
  }
  mutable std::deque<json::Tree> trees_;
};

}  // namespace muster::agent
