#include "client/informer.h"

#include "base/number.h"
#include "client/feed.h"
#include "client/list_watch.h"

namespace muster::client {

store::Revision to_revision(std::string_view text) {
  return parse_number<store::Revision>(text).value_or(0);
}

Informer::Informer(Client& client, const api::Resource& resource, ListOptions options)
    : client_(client), resource_(resource), options_(std::move(options)) {}

void Informer::start() {
  Source::Listener listener{
      .state_begins = [this] { begin_state(); },
      .put = [this](const Source::Version& version) { put(version); },
      .remove = [this](const std::string& path) { remove(path); },
      .state_ends = [this] { end_state(); },
  };
  const bool is_stored = resource_.storage == &resource_;  // other versions have to be converted
  if (Feed* const feed = client_.feed(); feed != nullptr && is_stored) {
    source_ = feed->open(resource_, options_, std::move(listener));
    return;
  }
  auto list_watch = std::make_unique<ListWatch>(
      client_, resource_, ListWatch::Options{.list = options_, .forget_content = forgets_content_},
      std::move(listener));
  ListWatch& started = *list_watch;
  source_ = std::move(list_watch);
  started.start();
}

void Informer::on_synced(Task task) {
  if (synced_) return task();
  when_synced_.push_back(std::move(task));
}

ObjectPtr Informer::find(std::string_view ns, std::string_view name) const {
  const auto at = objects_.find(std::string(ns) + "/" + std::string(name));
  return at == objects_.end() ? nullptr : at->second;
}

store::Revision Informer::position() const {
  return source_ == nullptr || seen_ ? 0 : source_->position();
}

void Informer::begin_state() { seen_.emplace(); }

void Informer::put(const Source::Version& version) {
  const ObjectPtr& object = version.object;
  const std::string path = object->meta().ns + "/" + object->meta().name;
  if (seen_) seen_->insert(path);
  const ObjectPtr before = std::exchange(objects_[path], object);
  if (!before || before->meta().resource_version != object->meta().resource_version) {
    content_ = version.content;
    for (const auto& handler : handlers_) handler(before, object);
    content_ = {};
  }
  if (version.kept == object) return;
  const auto at = objects_.find(path);  // a handler may have had it removed
  if (at != objects_.end() && at->second == object) at->second = version.kept;
}

void Informer::remove(const std::string& path) {
  const auto at = objects_.find(path);
  if (at == objects_.end()) return;
  const ObjectPtr before = at->second;
  objects_.erase(at);
  for (const auto& handler : handlers_) handler(before, nullptr);
}

// What the cache held and the source no longer has was deleted while nothing was told.
void Informer::end_state() {
  if (seen_) {
    std::vector<std::string> gone;
    for (const auto& [path, object] : objects_) {
      if (!seen_->contains(path)) gone.push_back(path);
    }
    seen_.reset();
    for (const auto& path : gone) remove(path);
  }
  if (std::exchange(synced_, true)) return;
  for (auto& task : std::exchange(when_synced_, {})) task();
}

}  // namespace muster::client
