// One informer per kind, shared by all controllers that look at it.
#pragma once

#include <map>
#include <memory>

#include "client/informer.h"

namespace muster::controllers {

class Informers {
 public:
  Informers(client::Client& client, const api::Registry& registry)
      : client_(client), registry_(registry) {}

  // Made when first asked for; runs after start().
  client::Informer& of(std::string_view group, std::string_view version, std::string_view plural);
  void start();

 private:
  client::Client& client_;
  const api::Registry& registry_;
  std::map<const api::Resource*, std::unique_ptr<client::Informer>> informers_;
  bool started_ = false;
};

}  // namespace muster::controllers
