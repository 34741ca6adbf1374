// The objects of one kind by list and watch, as any Kubernetes API server offers them.
//
// Opens with a streaming list (sendInitialEvents) where the server offers it, else lists and
// watches. A cut stream is resumed at the last revision seen; when that is too old (410) everything
// is listed again. Kinds that are watched apart arrive in no common order.
//
// A kind that the server does not serve has no objects: an empty state is told, and discovery is
// asked after 1 s, then half as often each time, down to every 30 s, until it names the kind. The
// position is 0 meanwhile. A 404 alone is not believed: discovery has to say so, too. A kind whose
// definition is removed becomes empty in the same way.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "client/client.h"
#include "client/source.h"

namespace muster::client {

class ListWatch final : public Source {
 public:
  struct Options {
    ListOptions list;
    // Of an object whose change has been told, keep only its identity and its owners.
    bool forget_content = false;
  };
  ListWatch(Client& client, const api::Resource& resource, Options options, Listener listener);
  ~ListWatch() override;
  ListWatch(const ListWatch&) = delete;

  void start() { open(); }
  store::Revision position() const override;

 private:
  void open();
  void open_with_list();
  void open_stream(std::string parameters);
  void took_data(std::string_view data);
  void took_line(std::string_view line);
  void took_event(std::string_view type, std::string_view object);
  void took_object(std::string_view type, std::string_view text, json::Value content);
  void begin_state();
  void end_state();
  void broken(Error why);
  void ended(Status why);
  void put(ObjectPtr object, json::Value content);
  void complain(const Error& error);
  void retry(bool ended_well);
  Duration delay_after(int failures, Duration first);
  void check_if_served();
  void be_absent();
  void await_kind();

  Client& client_;
  const api::Resource& resource_;
  const Options options_;
  const Listener listener_;
  bool listing_ = false;  // the state comes in
  std::unique_ptr<Transport::Stream> stream_;
  int stream_number_ = 0;  // changes when a stream is opened and when it is given up
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::string revision_;  // of the last event or bookmark; empty: list again
  std::string buffer_;    // a line that has not ended yet
  std::string refusal_;   // the body of an answer that is no stream
  int status_ = 0;
  bool streaming_list_ = true;  // until the server refuses it
  int failures_ = 0;
  int looks_ = 0;  // at discovery, while the server does not serve the kind
  bool complained_ = false;
};

}  // namespace muster::client
