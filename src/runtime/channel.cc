// SOCK_SEQPACKET. A text that is too long for one packet travels in a memory file.
#include "runtime/channel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/errno_error.h"

namespace muster::runtime {
namespace {

constexpr std::size_t kLargestPacket = 32 << 10;
constexpr std::size_t kLargestText = 64 << 20;  // more is nobody's message
constexpr char kInline = 'i';
constexpr char kInFile = 'f';  // the first descriptor holds the text

std::unexpected<Error> system_error(std::string_view what) {
  return errno_error(what, Code::kUnavailable);
}

Result<UniqueFd> in_file(std::string_view text) {
  UniqueFd file(memfd_create("muster-message", MFD_CLOEXEC));
  if (!file.valid()) return system_error("no memory for a message");
  if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return system_error("no memory for a message");
  }
  return file;
}

Result<std::string> from_file(int file) {
  const off_t size = lseek(file, 0, SEEK_END);
  if (size < 0 || static_cast<std::size_t>(size) > kLargestText) {
    return fail(Code::kUnavailable, "a message without its text");
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  if (pread(file, text.data(), text.size(), 0) != size) return system_error("message lost");
  return text;
}

Status send_packet(int socket, char kind, std::string_view text, const std::vector<int>& fds) {
  iovec parts[2] = {{&kind, 1}, {const_cast<char*>(text.data()), text.size()}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * (kMaxFdsPerMessage + 1))> control{};
  msghdr header{};
  header.msg_iov = parts;
  header.msg_iovlen = 2;
  if (!fds.empty()) {
    const std::size_t bytes = fds.size() * sizeof(int);
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), fds.data(), bytes);
  }
  if (sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return {};
  if (errno == EAGAIN) return fail(Code::kTooManyRequests, "the other side does not read");
  return system_error("cannot send");
}

void take_descriptors(msghdr& header, std::vector<UniqueFd>& out) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      out.emplace_back(fd);
    }
  }
}

// A directory's path may be longer than an address; its descriptor's is not.
Result<std::pair<UniqueFd, sockaddr_un>> address_in(const std::string& directory,
                                                    const std::string& name) {
  UniqueFd folder(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return system_error(directory);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", folder.get(), name);
  if (path.size() >= sizeof address.sun_path) return fail(Code::kInvalid, "name too long: " + name);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return std::pair(std::move(folder), address);
}

}  // namespace

Result<std::pair<UniqueFd, UniqueFd>> make_channel_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return system_error("no socket");
  }
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

Result<UniqueFd> listen_at(const std::string& directory, const std::string& name) {
  MUSTER_TRY(const auto address, address_in(directory, name));
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return system_error("no socket");
  unlinkat(address.first.get(), name.c_str(), 0);
  const auto* at = reinterpret_cast<const sockaddr*>(&address.second);
  if (bind(socket.get(), at, sizeof address.second) != 0 || listen(socket.get(), 8) != 0) {
    return system_error("cannot listen at " + directory + "/" + name);
  }
  return socket;
}

Result<UniqueFd> connect_to(const std::string& directory, const std::string& name) {
  MUSTER_TRY(const auto address, address_in(directory, name));
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return system_error("no socket");
  const auto* at = reinterpret_cast<const sockaddr*>(&address.second);
  if (connect(socket.get(), at, sizeof address.second) != 0) {
    return system_error("nobody at " + directory + "/" + name);
  }
  return socket;
}

Status send_message(int socket, const Message& message) {
  std::vector<int> fds;
  for (const UniqueFd& fd : message.fds) fds.push_back(fd.get());
  MUSTER_ASSERT(fds.size() <= kMaxFdsPerMessage, "too many descriptors in one message");
  if (message.text.size() <= kLargestPacket) {
    return send_packet(socket, kInline, message.text, fds);
  }
  MUSTER_TRY(const UniqueFd file, in_file(message.text));
  fds.insert(fds.begin(), file.get());
  return send_packet(socket, kInFile, {}, fds);
}

Result<std::optional<Message>> receive_message(int socket) {
  char kind = 0;
  std::array<char, kLargestPacket> text;  // not initialised: only what arrives is touched
  iovec parts[2] = {{&kind, 1}, {text.data(), text.size()}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * (kMaxFdsPerMessage + 1))> control;
  msghdr header{};
  header.msg_iov = parts;
  header.msg_iovlen = 2;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (got <= 0) return fail(Code::kUnavailable, "the other side is gone");
  Message message;
  take_descriptors(header, message.fds);
  if (kind == kInline) {
    message.text.assign(text.data(), static_cast<std::size_t>(got - 1));
    return message;
  }
  if (message.fds.empty()) return fail(Code::kUnavailable, "a message without its text");
  MUSTER_TRY(message.text, from_file(message.fds.front().get()));
  message.fds.erase(message.fds.begin());
  return message;
}

Channel::Channel(Loop& loop, UniqueFd socket, Handlers handlers)
    : loop_(loop), socket_(std::move(socket)), handlers_(std::move(handlers)) {
  loop_.watch_readable(socket_.get(), [this] { read(); });
}

Channel::~Channel() { close(); }

void Channel::close() {
  if (writable_.valid()) loop_.unwatch(writable_.get());
  writable_ = {};
  if (socket_.valid()) loop_.unwatch(socket_.get());
  socket_ = {};
}

void Channel::read() {
  const Lifetime::Watch self = lifetime_.watch();
  while (!self.ended() && socket_.valid()) {
    auto message = receive_message(socket_.get());
    if (!message) {
      close();
      const auto closed = handlers_.closed;
      if (closed) closed();
      return;
    }
    if (!*message) return;
    const auto handler = handlers_.message;
    handler(std::move(**message));
  }
}

void Channel::send(Message message) {
  if (!socket_.valid()) return;
  waiting_.push_back(std::move(message));
  if (waiting_.size() == 1) flush();
  // Whoever does not read so long is told so by the end of the channel, which read() notices.
  if (waiting_.size() > kMaxQueuedMessages && socket_.valid()) shutdown(socket_.get(), SHUT_RDWR);
}

void Channel::flush() {
  while (!waiting_.empty()) {
    const Status sent = send_message(socket_.get(), waiting_.front());
    if (!sent && sent.error().code == Code::kTooManyRequests) break;
    waiting_.pop_front();  // other failures: read() sees the end
  }
  if (waiting_.empty()) {
    if (writable_.valid()) loop_.unwatch(writable_.get());
    writable_ = {};
    return;
  }
  if (writable_.valid()) return;
  writable_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{.events = EPOLLOUT, .data = {}};
  epoll_ctl(writable_.get(), EPOLL_CTL_ADD, socket_.get(), &event);
  loop_.watch_readable(writable_.get(), [this] { flush(); });
}

}  // namespace muster::runtime
