// One kind's objects as a controller reads them: each version is read into a View once, when it
// arrives, and found by name or by the uid of its controller. So what an event costs does not grow
// with the number of objects that belong to others.
//
// Made before the handlers that use it are registered with the informer: it must hear first.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "client/informer.h"

namespace muster::controllers {

template <class View>
class Cache {
 public:
  using Read = std::function<View(const store::Object&, json::Value content)>;
  Cache(client::Informer& informer, Read read) : informer_(informer), read_(std::move(read)) {
    informer_.on_change([this](const client::ObjectPtr& before, const client::ObjectPtr& after) {
      std::unique_ptr<const View> old;
      if (before && !(after && same_owner(before->meta(), after->meta())))
        old = forget(before->meta());
      const View* const now = after ? learn(*after, old) : nullptr;
      for (const auto& handler : handlers_) handler(old.get(), now);
    });
  }
  Cache(const Cache&) = delete;

  client::Informer& informer() const { return informer_; }

  // As the informer's, with views: null before the first version and after the last. The old one is
  // gone when the handler returns.
  using Handler = std::function<void(const View* before, const View* after)>;
  void on_change(Handler handler) { handlers_.push_back(std::move(handler)); }

  const View* find(std::string_view ns, std::string_view name) const {
    const auto at = views_.find(path(ns, name));
    return at == views_.end() ? nullptr : at->second.get();
  }

  // Children of the object with this uid, in the order of their names. Valid until the next event.
  // Only those of its namespace: anybody may name any owner in one's own.
  std::vector<const View*> owned_by(std::string_view ns, std::string_view uid) const {
    std::vector<const View*> found;
    const auto at = by_owner_.find(path(ns, uid));
    if (at == by_owner_.end()) return found;
    found.reserve(at->second.size());
    for (const auto& [name, view] : at->second) found.push_back(view);
    return found;
  }

  // Those of one namespace, in the order of their names. Valid until the next event.
  std::vector<const View*> in_namespace(std::string_view ns) const {
    std::vector<const View*> found;
    const std::string prefix = path(ns, "");
    for (auto at = views_.lower_bound(prefix); at != views_.end(); ++at) {
      if (!at->first.starts_with(prefix)) break;
      found.push_back(at->second.get());
    }
    return found;
  }

  // By "ns/name".
  const std::map<std::string, std::unique_ptr<const View>, std::less<>>& all() const {
    return views_;
  }

 private:
  // The name or uid of something in a namespace.
  static std::string path(std::string_view ns, std::string_view name) {
    return std::string(ns) + "/" + std::string(name);
  }

  static bool same_owner(const api::Meta& a, const api::Meta& b) {
    const auto *left = a.controller(), *right = b.controller();
    return left == nullptr || right == nullptr ? left == right : left->uid == right->uid;
  }

  // Takes the place of the view before it, if that is still there: most changes keep the owner.
  const View* learn(const store::Object& object, std::unique_ptr<const View>& old) {
    const api::Meta& meta = object.meta();
    auto view = std::make_unique<const View>(read_(object, informer_.content()));
    const View* const now = view.get();
    if (const auto* owner = meta.controller())
      by_owner_[path(meta.ns, owner->uid)][meta.name] = now;
    auto& slot = views_[path(meta.ns, meta.name)];
    if (slot != nullptr) old = std::move(slot);
    slot = std::move(view);
    return now;
  }

  std::unique_ptr<const View> forget(const api::Meta& meta) {
    if (const auto* owner = meta.controller()) {
      const auto at = by_owner_.find(path(meta.ns, owner->uid));
      if (at != by_owner_.end() && at->second.erase(meta.name) != 0 && at->second.empty())
        by_owner_.erase(at);
    }
    auto node = views_.extract(path(meta.ns, meta.name));
    return node.empty() ? nullptr : std::move(node.mapped());
  }

  client::Informer& informer_;
  Read read_;
  std::vector<Handler> handlers_;
  std::map<std::string, std::unique_ptr<const View>, std::less<>> views_;
  // Only looked up, never walked.
  std::unordered_map<std::string, std::map<std::string, const View*, std::less<>>> by_owner_;
};

// For views that are read from the content alone.
template <class View>
typename Cache<View>::Read reader(View (*read)(json::Value)) {
  return [read](const store::Object&, json::Value content) { return read(content); };
}

}  // namespace muster::controllers
