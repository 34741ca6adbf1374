#include "controllers/runtime/informers.h"

namespace muster::controllers {
namespace {

std::string key_of(const api::Resource& resource, const client::ListOptions& options = {}) {
  return client::url_path(resource, "") + "?" + options.label_selector +
         (options.metadata_only ? "&metadata" : "");
}

}  // namespace

const api::Resource& Informers::known(std::string_view group, std::string_view version,
                                      std::string_view plural) const {
  const api::Resource* const resource = registry_.find(group, version, plural);
  MUSTER_ASSERT(resource != nullptr, "controllers look at known kinds only");
  return *resource;
}

client::Informer& Informers::make(const api::Resource& resource, client::ListOptions options) {
  MUSTER_ASSERT(!started_, "controllers say what they look at before the start");
  auto& informer = informers_[key_of(resource, options)];
  if (!informer)
    informer = std::make_unique<client::Informer>(client_, resource, std::move(options));
  return *informer;
}

client::Informer& Informers::kept(client::Informer& informer) {
  kept_.insert(&informer);
  return informer;
}

client::Informer& Informers::changes_of(std::string_view group, std::string_view version,
                                        std::string_view plural) {
  return make(known(group, version, plural), {});
}

client::Informer& Informers::labelled(std::string_view group, std::string_view version,
                                      std::string_view plural, std::string_view label) {
  return make(known(group, version, plural), {.label_selector = std::string(label)});
}

client::Informer& Informers::of(std::string_view group, std::string_view version,
                                std::string_view plural) {
  return kept(changes_of(group, version, plural));
}

client::Informer& Informers::metadata_of(const api::Resource& resource) {
  const bool shared = informers_.contains(key_of(resource));
  return kept(make(resource, {.metadata_only = !shared}));
}

void Informers::start() {
  started_ = true;
  for (const auto& [key, informer] : informers_) {
    if (!kept_.contains(informer.get())) informer->forget_content();
    const auto children = children_of_.find(informer.get());
    const bool in_order = client_.feed() != nullptr;  // no kind is ahead of another
    if (in_order || children == children_of_.end()) {
      informer->start();
    } else {
      children->second->on_synced([&owners = *informer] { owners.start(); });
    }
  }
}

}  // namespace muster::controllers
