#include "agent/object_cache.h"

#include <fmt/format.h>

#include "json/parse.h"

namespace muster::agent {
namespace {

constexpr std::string_view kRootCa = "kube-root-ca.crt";

}  // namespace

ObjectCache::ObjectCache(client::Client& client, const api::Registry& registry,
                         const std::string& ca_pem) {
  watch(config_maps_, ReferenceKind::kConfigMap, client, *registry.find("", "v1", "configmaps"));
  watch(secrets_, ReferenceKind::kSecret, client, *registry.find("", "v1", "secrets"));
  watch(claims_, ReferenceKind::kClaim, client, *registry.find("", "v1", "persistentvolumeclaims"));
  if (ca_pem.empty()) return;
  root_ca_ = json::Value::object(arena_);
  root_ca_.object_at("metadata").set("name", kRootCa);
  root_ca_.object_at("data").set("ca.crt", ca_pem);
}

void ObjectCache::watch(Kind& kind, ReferenceKind as, client::Client& client,
                        const api::Resource& resource) {
  kind.informer = std::make_unique<client::Informer>(client, resource);
  kind.informer->on_change([this, &kind, as](const auto& before, const auto& after) {
    const api::Meta& meta = (after ? after : before)->meta();
    kind.parsed.erase(fmt::format("{}/{}", meta.ns, meta.name));
    // One of the same name that follows another at once is seen as a change of it.
    const bool stays = before && after && before->meta().uid == after->meta().uid;
    if (handler_)
      handler_({.kind = as, .ns = meta.ns, .name = meta.name}, stays ? nullptr : before);
  });
}

void ObjectCache::start(Task synced) {
  for (Kind* const kind : {&config_maps_, &secrets_, &claims_}) kind->informer->start();
  const auto left = std::make_shared<int>(3);
  const auto done = std::make_shared<Task>(std::move(synced));
  for (Kind* const kind : {&config_maps_, &secrets_, &claims_}) {
    kind->informer->on_synced([left, done] {
      if (--*left == 0) (*done)();
    });
  }
}

json::Value ObjectCache::find(const Kind& kind, std::string_view ns, std::string_view name) {
  const client::ObjectPtr object = kind.informer->find(ns, name);
  if (!object) return {};
  Parsed& parsed = kind.parsed[fmt::format("{}/{}", ns, name)];
  if (parsed.object != object) {
    parsed.arena = std::make_unique<json::Arena>(object->bytes().size() * 2);
    const auto tree = json::parse(*parsed.arena, object->bytes());
    parsed.tree = tree ? *tree : json::Value();
    parsed.object = object;
  }
  return parsed.tree;
}

std::set<std::string, std::less<>> ObjectCache::claim_uids() const {
  std::set<std::string, std::less<>> uids;
  for (const auto& [key, claim] : claims_.informer->objects()) uids.insert(claim->meta().uid);
  return uids;
}

json::Value ObjectCache::config_map(std::string_view ns, std::string_view name) const {
  const json::Value found = find(config_maps_, ns, name);
  return found.is_null() && name == kRootCa ? root_ca_ : found;
}

json::Value ObjectCache::secret(std::string_view ns, std::string_view name) const {
  return find(secrets_, ns, name);
}

json::Value ObjectCache::volume_claim(std::string_view ns, std::string_view name) const {
  return find(claims_, ns, name);
}

}  // namespace muster::agent
