// A local copy of one kind's objects, kept current by a Source: the feed of a store in this process
// if the client's transport has one, else list and watch. When the source has to begin again, the
// differences are told as changes. Used on the client's loop only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/source.h"
#include "json/value.h"
#include "store/store.h"

namespace muster::client {

class Informer {
 public:
  Informer(Client& client, const api::Resource& resource, ListOptions options = {});
  Informer(const Informer&) = delete;

  // `before` is null for a new object, `after` for one that is gone. Handlers stay for the
  // informer's life.
  using Handler = std::function<void(const ObjectPtr& before, const ObjectPtr& after)>;
  void on_change(Handler handler) { handlers_.push_back(std::move(handler)); }
  // For handlers: what `after` says, read once for all of them, not to be changed. Null if it is
  // gone. Valid until the handler returns.
  json::Value content() const { return content_; }
  // Before start(): handlers take what they need from `after`, so a source that has to copy objects
  // keeps only name, uid, revision, deletion and owners of one whose change has been told.
  void forget_content() { forgets_content_ = true; }
  void start();

  bool synced() const { return synced_; }  // the first list is complete
  void on_synced(Task task);               // at once if it is already

  ObjectPtr find(std::string_view ns, std::string_view name) const;  // null if absent
  const std::map<std::string, ObjectPtr, std::less<>>& objects() const {
    return objects_;
  }  // by "ns/name"
  const api::Resource& resource() const { return resource_; }
  // Every change up to this revision has been told; 0 while a list comes in.
  store::Revision position() const;

 private:
  void begin_state();
  void put(const Source::Version& version);
  void remove(const std::string& path);
  void end_state();

  Client& client_;
  const api::Resource& resource_;
  ListOptions options_;
  std::vector<Handler> handlers_;
  std::vector<Task> when_synced_;
  std::map<std::string, ObjectPtr, std::less<>> objects_;
  json::Value content_;  // of the object whose change is being told
  // While the state comes in: what has been seen; the rest is removed at its end.
  std::optional<std::set<std::string, std::less<>>> seen_;
  bool forgets_content_ = false;
  bool synced_ = false;
  std::unique_ptr<Source> source_;  // last: it may tell nothing once the rest is gone
};

}  // namespace muster::client
