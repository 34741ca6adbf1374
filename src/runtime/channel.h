// Messages, whole and in order, with descriptors if wanted, between two processes of this machine.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/loop.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::runtime {

struct Message {
  std::string text;
  std::vector<UniqueFd> fds;
};

inline constexpr std::size_t kMaxFdsPerMessage = 4;
// So many messages may wait for a peer that does not read; then the channel is given up.
inline constexpr std::size_t kMaxQueuedMessages = 4096;

// Two ends; nonblocking.
Result<std::pair<UniqueFd, UniqueFd>> make_channel_pair();
// A socket in the directory, however long the directory's path is.
Result<UniqueFd> listen_at(const std::string& directory, const std::string& name);
Result<UniqueFd> connect_to(const std::string& directory, const std::string& name);

// Without a loop. Receiving gives nothing when there is no message yet, or an error at the end.
Status send_message(int socket, const Message& message);
Result<std::optional<Message>> receive_message(int socket);

// Used on one loop; the handlers may destroy it. Handlers are not called by send().
class Channel {
 public:
  struct Handlers {
    std::function<void(Message)> message;
    std::function<void()> closed;  // once: the other end is gone
  };
  Channel(Loop& loop, UniqueFd socket, Handlers handlers);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void send(Message message);  // never blocks

 private:
  void read();
  void flush();
  void close();

  Loop& loop_;
  UniqueFd socket_;
  UniqueFd writable_;  // an epoll that is readable when the socket can be written, while needed
  Handlers handlers_;
  std::deque<Message> waiting_;
  Lifetime lifetime_;
};

}  // namespace muster::runtime
