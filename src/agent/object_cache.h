// ConfigMaps, Secrets and volume claims of all namespaces, kept current.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/inputs/objects.h"
#include "agent/references.h"
#include "client/informer.h"

namespace muster::agent {

class ObjectCache final : public Objects {
 public:
  // `ca_pem` is what pods find as the ConfigMap kube-root-ca.crt where a namespace has none.
  ObjectCache(client::Client& client, const api::Registry& registry, const std::string& ca_pem);

  // An object came, changed or went; `gone` is the last version of one that went, also if another
  // of the same name has followed it. Set before start().
  using Handler = std::function<void(const Reference&, const client::ObjectPtr& gone)>;
  void on_change(Handler handler) { handler_ = std::move(handler); }
  void start(Task synced);

  std::set<std::string, std::less<>> claim_uids() const;

  json::Value config_map(std::string_view ns, std::string_view name) const override;
  json::Value secret(std::string_view ns, std::string_view name) const override;
  json::Value volume_claim(std::string_view ns, std::string_view name) const override;

 private:
  struct Parsed {
    client::ObjectPtr object;
    std::unique_ptr<json::Arena> arena;
    json::Value tree;
  };
  struct Kind {
    std::unique_ptr<client::Informer> informer;
    mutable std::map<std::string, Parsed, std::less<>> parsed;  // of those that were asked for
  };
  static json::Value find(const Kind& kind, std::string_view ns, std::string_view name);
  void watch(Kind& kind, ReferenceKind as, client::Client& client, const api::Resource& resource);

  Kind config_maps_, secrets_, claims_;
  json::Arena arena_;
  json::Value root_ca_;
  Handler handler_;
};

}  // namespace muster::agent
