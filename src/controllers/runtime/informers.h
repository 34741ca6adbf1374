// One informer per kind, shared by all controllers that look at it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "client/informer.h"

namespace muster::controllers {

class Informers {
 public:
  Informers(client::Client& client, const api::Registry& registry)
      : client_(client), registry_(registry) {}

  // Made when first asked for; runs after start().
  client::Informer& of(std::string_view group, std::string_view version, std::string_view plural);
  // For those who look at metadata only, of all kinds: the shared informer if somebody asked for
  // the whole objects before, else a slim one.
  client::Informer& metadata_of(const api::Resource& resource);
  void start();

 private:
  client::Client& client_;
  const api::Registry& registry_;
  using ByPath = std::map<std::string, std::unique_ptr<client::Informer>>;
  client::Informer& make(ByPath& into, const api::Resource& resource, client::ListOptions options);

  ByPath whole_;  // by URL path: they start in the same order in every run
  ByPath slim_;
  bool started_ = false;
};

}  // namespace muster::controllers
