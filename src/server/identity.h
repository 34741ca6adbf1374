// Who asks: the outcome of authentication, and what authorisation and admission look at.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::server {

inline constexpr std::string_view kMasters = "system:masters";
inline constexpr std::string_view kReaders = "muster:readers";
inline constexpr std::string_view kAuthenticated = "system:authenticated";
inline constexpr std::string_view kUnauthenticated = "system:unauthenticated";
inline constexpr std::string_view kAnonymous = "system:anonymous";

struct User {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  bool in_group(std::string_view group) const;
};

// The identity of components that run in this process.
User master(std::string name);

}  // namespace muster::server
