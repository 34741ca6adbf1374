// A local copy of one kind's objects, kept current by list and watch.
//
// Opens with a streaming list (sendInitialEvents) where the server offers it, else lists and
// watches. A cut stream is resumed at the last revision seen; when that is too old (410) everything
// is listed again and the differences are told as changes. Used on the client's loop only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/client.h"
#include "json/value.h"
#include "store/store.h"

namespace muster::client {

using store::ObjectPtr;

// A resourceVersion as a number; 0 if it is none.
store::Revision to_revision(std::string_view text);

class Informer {
 public:
  Informer(Client& client, const api::Resource& resource, ListOptions options = {});
  ~Informer();
  Informer(const Informer&) = delete;

  // `before` is null for a new object, `after` for one that is gone. Handlers stay for the
  // informer's life.
  using Handler = std::function<void(const ObjectPtr& before, const ObjectPtr& after)>;
  void on_change(Handler handler) { handlers_.push_back(std::move(handler)); }
  // For handlers: what `after` says, read once for all of them, not to be changed. Null if it is
  // gone. Valid until the handler returns.
  json::Value content() const { return content_; }
  // Before start(): of an object whose change has been told nothing is kept but who it is and whose
  // (name, uid, revision, deletion, owners). For handlers that take what they need from `after`.
  void forget_content() { forgets_content_ = true; }
  void start();

  bool synced() const { return synced_; }  // the first list is complete
  void on_synced(Task task);               // at once if it is already

  ObjectPtr find(std::string_view ns, std::string_view name) const;  // null if absent
  const std::map<std::string, ObjectPtr, std::less<>>& objects() const {
    return objects_;
  }  // by "ns/name"
  const api::Resource& resource() const { return resource_; }
  // Every change up to this revision has been told; 0 while a list comes in, whose order is
  // another.
  store::Revision position() const;

 private:
  void open();
  void open_with_list();
  void open_stream(std::string parameters);
  void took_data(std::string_view data);
  void took_line(std::string_view line);
  void took_event(std::string_view type, std::string_view object);
  void took_object(std::string_view type, std::string_view text, json::Value content);
  void broken(Error why);
  void ended(Status why);
  void put(ObjectPtr object, json::Value content);
  void remove(const std::string& key);
  void finish_initial();
  void complain(const Error& error);
  void retry(bool ended_well);

  Client& client_;
  const api::Resource& resource_;
  ListOptions options_;
  std::vector<Handler> handlers_;
  std::vector<Task> when_synced_;
  std::map<std::string, ObjectPtr, std::less<>> objects_;
  json::Value content_;  // of the object whose change is being told
  // While the initial state comes in: what has been seen; the rest is removed at its end.
  std::optional<std::set<std::string, std::less<>>> seen_;
  std::unique_ptr<Transport::Stream> stream_;
  int stream_number_ = 0;  // changes when a stream is opened and when it is given up
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::string revision_;  // of the last event or bookmark; empty: list again
  std::string buffer_;    // a line that has not ended yet
  std::string refusal_;   // the body of an answer that is no stream
  int status_ = 0;
  bool forgets_content_ = false;
  bool streaming_list_ = true;  // until the server refuses it
  bool synced_ = false;
  int failures_ = 0;
  bool complained_ = false;
};

}  // namespace muster::client
