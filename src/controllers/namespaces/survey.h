// Reads what is in a namespace, from the server itself: a namespace may go only when nothing is
// left, and a cache cannot know that.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/schema/registry.h"
#include "client/client.h"
#include "controllers/namespaces/content.h"

namespace muster::controllers::namespaces {

// Kinds that a namespace holds and that can be deleted, one per stored kind.
std::vector<const api::Resource*> kinds_in_namespaces(const api::Registry& registry);

class Survey : public std::enable_shared_from_this<Survey> {
 public:
  using Done = std::function<void(Content content)>;
  // Calls `done` once, unless it is stopped before. `client` and `registry` must outlive it.
  static std::shared_ptr<Survey> start(client::Client& client, const api::Registry& registry,
                                       std::string ns, Done done);
  void stop() { done_ = nullptr; }

 private:
  static constexpr int kUnderWay = 8;

  Survey(client::Client& client, std::string ns, Done done)
      : client_(client), ns_(std::move(ns)), done_(std::move(done)) {}
  void read_pods(const api::Resource& pods);
  void pump();
  void took(const api::Resource& resource, const Result<json::Value>& list);

  client::Client& client_;
  std::string ns_;
  Done done_;
  std::vector<const api::Resource*> waiting_;
  int under_way_ = 0;
  Content content_;
};

}  // namespace muster::controllers::namespaces
