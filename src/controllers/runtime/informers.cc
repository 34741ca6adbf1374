#include "controllers/runtime/informers.h"

namespace muster::controllers {

client::Informer& Informers::whole(std::string_view group, std::string_view version,
                                   std::string_view plural) {
  const api::Resource* resource = registry_.find(group, version, plural);
  MUSTER_ASSERT(resource != nullptr, "controllers look at known kinds only");
  return make(whole_, *resource, {});
}

client::Informer& Informers::of(std::string_view group, std::string_view version,
                                std::string_view plural) {
  client::Informer& informer = whole(group, version, plural);
  MUSTER_ASSERT(!informer.forgets_content(), "controllers say what they read before the start");
  read_later_.insert(&informer);
  return informer;
}

client::Informer& Informers::changes_of(std::string_view group, std::string_view version,
                                        std::string_view plural) {
  return whole(group, version, plural);
}

client::Informer& Informers::labelled(std::string_view group, std::string_view version,
                                      std::string_view plural, std::string_view label) {
  const api::Resource* resource = registry_.find(group, version, plural);
  MUSTER_ASSERT(resource != nullptr, "controllers look at known kinds only");
  auto& informer = labelled_[client::url_path(*resource, "") + "?" + std::string(label)];
  if (!informer) {
    informer = std::make_unique<client::Informer>(
        client_, *resource, client::ListOptions{.label_selector = std::string(label)});
    informer->forget_content();
    if (started_) informer->start();
  }
  return *informer;
}

client::Informer& Informers::metadata_of(const api::Resource& resource) {
  const auto known = whole_.find(client::url_path(resource, ""));
  if (known != whole_.end() && !known->second->forgets_content()) {
    read_later_.insert(known->second.get());
    return *known->second;
  }
  return make(slim_, resource, {.metadata_only = true});
}

client::Informer& Informers::make(ByPath& into, const api::Resource& resource,
                                  client::ListOptions options) {
  auto& informer = into[client::url_path(resource, "")];
  if (!informer) {
    informer = std::make_unique<client::Informer>(client_, resource, std::move(options));
    if (started_) informer->start();
  }
  return *informer;
}

void Informers::start() {
  started_ = true;
  for (const auto& [path, informer] : whole_) {
    if (!read_later_.contains(informer.get())) informer->forget_content();
    informer->start();
  }
  for (const auto& [path, informer] : slim_) informer->start();
  for (const auto& [path, informer] : labelled_) informer->start();
}

}  // namespace muster::controllers
