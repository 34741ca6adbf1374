// What a request wants to do, and what a rule of a role lets its subjects do. Pure; internal to
// server/.
#pragma once

#include <string>
#include <vector>

#include "server/request_info.h"

namespace muster::server {

struct Attributes {
  std::string verb;
  std::string path;  // set for requests that are about no resource; then the rest is empty
  std::string group;
  std::string resource;
  std::string subresource;
  std::string ns;
  std::string name;

  static Attributes of(const RequestInfo& info);
  bool only_reads() const { return verb == "get" || verb == "list" || verb == "watch"; }
  std::string full_resource() const;  // "pods/log", as rules and messages have it
};

struct PolicyRule {
  std::vector<std::string> verbs;
  std::vector<std::string> groups;
  std::vector<std::string> resources;
  std::vector<std::string> names;
  std::vector<std::string> paths;  // nonResourceURLs
};

bool allows(const PolicyRule& rule, const Attributes& wanted);

}  // namespace muster::server
