// One request on its way through the server: who asks for what, and how the answer goes out.
// Internal to server/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/http.h"
#include "server/core.h"
#include "server/media_type.h"
#include "server/request_info.h"

namespace muster::server {

class Renderer;   // render.h
class WriteList;  // write_list.h

// Held by whoever still has to answer. Used by one thread at a time.
class Call : public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<Core> the_core, std::shared_ptr<http::Exchange> the_exchange);
  ~Call();
  Call(const Call&) = delete;

  const std::shared_ptr<Core> core;
  const std::shared_ptr<http::Exchange> exchange;
  const Time started;
  const std::string audit_id;
  RequestInfo info;
  User user;
  Accepted accepted;
  const api::Resource* resource = nullptr;        // null for paths that are no resource
  const api::Subresource* subresource = nullptr;  // null for the object itself
  std::vector<std::string> warnings;              // sent with the answer
  // Takes the plan of this call's write, to carry it out together with others; null if it is
  // carried out alone.
  WriteList* list = nullptr;

  const http::Request& request() const { return exchange->request(); }
  std::string_view header(std::string_view name) const {
    return http::find_header(request().headers, name);
  }
  // Where the resource's objects are stored: the namespace of the request; empty for cluster-scoped
  // kinds and for all namespaces.
  std::string_view ns() const {
    return resource->namespaced ? std::string_view(info.ns) : std::string_view();
  }

  // Each answers the request; only the first one counts.
  // JSON text, sent as YAML or indented if the client asked for that.
  void answer_json(int status, std::vector<http::Chunk> body, http::Headers more = {}) {
    answer_json(status, std::move(body), std::move(more), nullptr);
  }
  void answer_json(int status, std::string body) { answer_json(status, chunks(std::move(body))); }
  // One object, in the form that the client wants.
  void answer_object(int status, const store::ObjectPtr& object, const Renderer& renderer);
  void answer_text(int status, std::string text);
  void answer_error(const Error& error, std::string_view continue_token = "");
  void answer(int status, std::string_view content_type, std::vector<http::Chunk> body,
              http::Headers more = {}, store::ObjectPtr as_stored = nullptr);

  // Opens a stream; what follows goes to the exchange itself.
  void start_stream(std::string_view content_type);
  // It does not count as a request in flight: a watch, a log, one of a list.
  void uncount();
  // Somebody else answers the exchange from now on.
  void hand_over();

  static std::vector<http::Chunk> chunks(std::string text);

 private:
  // `as_stored`: the object whose stored text the body is, if it is one.
  void answer_json(int status, std::vector<http::Chunk> body, http::Headers more,
                   store::ObjectPtr as_stored);
  http::Headers headers(std::string_view content_type) const;
  BytePool::Id hold(const std::vector<http::Chunk>& body) const;
  void release_when_taken(BytePool::Id held);
  void note(int status);

  bool answered_ = false;
  bool counted_ = true;
};
using CallPtr = std::shared_ptr<Call>;

}  // namespace muster::server
