// Blocking TCP for the built-in example programs, which run as pods' processes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "base/unique_fd.h"

namespace muster::cli {

// A name as getaddrinfo knows it, IPv4: "127.3.0.1".
Result<std::string> resolve(const std::string& host);
Result<UniqueFd> listen_at(const std::string& host, const std::string& port);
Result<UniqueFd> accept_from(int listener);
// Tries again until the patience ends: the other side may not be up yet.
Result<UniqueFd> connect_to(const std::string& host, const std::string& port, Duration patience);

Status send_all(int socket, std::string_view bytes);
Status receive_all(int socket, char* bytes, std::size_t size);  // fails if the peer closes before

// What the other side sends until it closes, at most kMaxText bytes of it.
inline constexpr std::size_t kMaxText = 4096;
std::string receive_text(int socket);

// The user whose process holds the other end of a loopback connection. Fails if nobody does.
Result<unsigned> peer_user(int socket);

}  // namespace muster::cli
