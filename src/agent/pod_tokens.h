// The tokens of service accounts that a pod's projected volumes ask for, renewed before they end.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/lifetime.h"
#include "client/client.h"
#include "json/value.h"

namespace muster::agent {

class PodTokens {
 public:
  PodTokens(client::Client& client, const api::Resource& accounts)
      : client_(client), accounts_(accounts) {}

  static bool wanted(json::Value pod);
  // Whether all that the pod asks for are there and need not be renewed yet.
  bool fresh(json::Value pod, Time now) const;
  // Gets the next that is not; one at a time. `done` is called when it is there, or with the reason
  // why it is not: then an old one stays in use.
  void fetch(json::Value pod, std::move_only_function<void(Status)> done);
  bool fetching() const { return fetching_; }
  std::optional<Time> due() const;  // when the first wants to be renewed

  Result<std::string> text(json::Value source) const;

 private:
  struct Token {
    std::string text;
    Time renew{};
  };
  Status took(const std::string& key, std::string_view answer);

  client::Client& client_;
  const api::Resource& accounts_;
  std::map<std::string, Token> tokens_;  // by what was asked for
  bool fetching_ = false;
  Lifetime lifetime_;
};

}  // namespace muster::agent
