// One accepted connection: handshake, requests one after the other, answers, end. Lives on the
// I/O thread of its worker; nothing here is called from another.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/answer.h"
#include "net/http_parser.h"
#include "net/output_queue.h"
#include "net/reactor.h"
#include "net/server_exchange.h"
#include "net/tls.h"
#include "net/websocket.h"
#include "net/worker.h"

namespace muster::net {

class Connection final : public Descriptor::Owner,
                         public AnswerSink,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(Worker& worker, Accepted accepted);

  void start();
  void expire_if_due(Tick now);  // closes if a deadline has passed
  void drain();                  // ends after the exchange that runs, at once if there is none
  void close();
  bool can_be_shed() const;                               // no answer is awaited or written
  std::uint64_t last_turn() const { return last_turn_; }  // of the worker's, when it last sent

  std::size_t place = 0;  // in the worker's list

 private:
  enum class Phase {
    kHandshake,
    kIdle,       // between requests
    kHeader,     // a request has begun
    kBody,       // its header is complete
    kAnswering,  // an answer is awaited or written
    kLingering,  // the last answer is out; what still comes is thrown away
    kClosed,
  };

  void on_readable() override;
  void on_writable() override;

  void respond(http::Response response) override;
  void start_stream(http::Response head) override;
  void send(std::vector<http::Chunk> chunks) override;
  void finish() override;
  void upgrade(http::Upgrade upgrade) override;
  void hold_messages(bool hold) override;
  void await_sent() override;
  void abort() override;
  void abandon() override;
  void flush() override;

  void shake_hands();
  void read();
  void take(std::string_view bytes);
  std::size_t parse(std::string_view bytes);
  bool accept_header();
  bool accept_body();
  void displace(BytePool::Id body);
  bool count_body();
  void forget_body();
  void begin_exchange();
  void end_exchange();
  void end_answer();
  void refuse(const Refusal& refusal);
  void refuse(http::Response response);
  std::size_t read_messages(std::string_view bytes);
  void take_event(const FrameReader::Event& event);
  void linger();
  void discard();

  void enter(Phase phase);
  void enter(Phase phase, Duration limit);
  void wait_for_input();
  void wait_for_output();
  bool is_reading_request() const;
  Duration patience() const;
  Answer::Terms terms() const;

  Worker& worker_;
  Descriptor socket_;
  Channel channel_;
  http::Peer peer_;

  Phase phase_ = Phase::kHandshake;
  Tick deadline_ = 0;  // 0: none
  std::uint64_t last_turn_ = 0;
  bool waiting_for_input_ = false;
  bool waiting_for_output_ = false;
  bool parsing_ = false;  // parse() is on the stack
  bool last_ = false;     // no request follows the present one

  std::unique_ptr<RequestParser> parser_;  // of the request being read
  std::string held_;       // input that cannot be used yet: half a header, or pipelined requests
  BytePool::Id body_ = 0;  // in ServerShared::bodies; 0: none that counts

  std::shared_ptr<ServerExchange> exchange_;
  Answer answer_;
  bool to_head_ = false;
  bool to_http_1_0_ = false;
  OutputQueue output_;

  // Once the connection is a WebSocket.
  struct Messages {
    explicit Messages(http::Upgrade the_peer)
        : reader(the_peer.max_message_bytes), peer(std::move(the_peer)) {}
    FrameReader reader;
    http::Upgrade peer;
    bool held = false;
    std::size_t pong_bytes = 0;  // queued since the queue was last empty
  };
  std::unique_ptr<Messages> messages_;
};

}  // namespace muster::net
