// What a request costs the server, and what a connection that does nothing costs it.
//
//   HttpsRequest/<bytes>: 64 kept-alive connections, one thread each side; CPU time is that of the
//   server's thread alone. IdleConnections: resident memory per connection of 5,000, whose other
//   ends are in a process of their own.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <ctime>

#include "net/certificates.h"
#include "net/http_server.h"
#include "net/socket.h"
#include "net/tls.h"

namespace muster::net {
namespace {

constexpr int kConnections = 64;
constexpr int kIdleConnections = 5000;
constexpr std::int64_t kRequests = 100'000;
constexpr std::string_view kRequest =
    "GET /apis/batch/v1/namespaces/default/jobs/train HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    "User-Agent: bench\r\nAccept: application/json\r\nAuthorization: Bearer 0123456789\r\n\r\n";

const Validity kAlways{Time(std::chrono::seconds(1'500'000'000)),
                       Time(std::chrono::seconds(4'000'000'000))};

struct Pki {
  KeyPair authority = make_authority({"bench-ca", {}}, kAlways).value();
  KeyPair server =
      make_server_certificate(authority, {"bench", {}}, {"127.0.0.1"}, kAlways).value();
};

double thread_cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// One end of a connection that asks again as soon as it has been answered.
class Asker {
 public:
  Asker(std::uint16_t port, const TlsContext& context)
      : fd_(begin_connect({"127.0.0.1", port}).value()),
        channel_(Channel::connecting(fd_.get(), context, "127.0.0.1")) {
    wait(POLLOUT);
    for (IoState state; (state = channel_.handshake()) != IoState::kDone;) {
      MUSTER_ASSERT(state == IoState::kWantRead || state == IoState::kWantWrite, "handshake");
      wait(state == IoState::kWantRead ? POLLIN : POLLOUT);
    }
  }

  int fd() const { return fd_.get(); }
  void ask() { channel_.write(kRequest); }

  // Whether an answer of that many bytes is complete.
  bool read(std::size_t answer_bytes, std::span<char> buffer) {
    do {
      const IoResult result = channel_.read(buffer);
      if (result.state != IoState::kDone) return false;
      received_ += result.bytes;
    } while (received_ < answer_bytes);
    received_ -= answer_bytes;
    return true;
  }
  std::size_t first_answer(std::span<char> buffer) {
    ask();
    wait(POLLIN);
    return channel_.read(buffer).bytes;
  }

 private:
  void wait(short events) const {
    pollfd one{.fd = fd_.get(), .events = events, .revents = 0};
    poll(&one, 1, 10'000);
  }
  UniqueFd fd_;
  Channel channel_;
  std::size_t received_ = 0;
};

// Asks on all connections at once until there are that many answers.
void exchange_all(std::vector<Asker>& askers, std::size_t answer_bytes, std::int64_t answers) {
  std::vector<char> buffer(64 * 1024);
  std::vector<pollfd> polled;
  for (Asker& asker : askers) {
    polled.push_back({.fd = asker.fd(), .events = POLLIN, .revents = 0});
    asker.ask();
  }
  while (answers > 0) {
    poll(polled.data(), polled.size(), -1);
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents == 0 || !askers[i].read(answer_bytes, buffer)) continue;
      --answers;
      askers[i].ask();
    }
  }
}

void HttpsRequest(benchmark::State& state) {
  const Pki pki;
  const std::string body(static_cast<std::size_t>(state.range(0)), 'b');
  std::atomic<double> server_cpu = 0;  // of its only thread, as of the latest request
  const auto server = HttpServer::start({.certificate_pem = pki.server.certificate_pem,
                                         .private_key_pem = pki.server.private_key_pem,
                                         .threads = 1},
                                        [&](const std::shared_ptr<http::Exchange>& exchange) {
                                          server_cpu = thread_cpu_seconds();
                                          http::Response response;
                                          response.headers = {{"Content-Type", "application/json"}};
                                          response.body = {http::Chunk::literal(body)};
                                          exchange->respond(std::move(response));
                                        })
                          .value();
  const TlsContext context = make_client_tls({.ca_pem = pki.authority.certificate_pem}).value();
  std::vector<Asker> askers;
  for (int i = 0; i < kConnections; ++i) askers.emplace_back(server->port(), context);
  std::vector<char> buffer(64 * 1024);
  const std::size_t answer_bytes = askers.front().first_answer(buffer);
  const double cpu_before = server_cpu;
  for (auto _ : state) exchange_all(askers, answer_bytes, kRequests);
  const auto requests = static_cast<double>(state.iterations() * kRequests);
  state.counters["requests/s"] = benchmark::Counter(requests, benchmark::Counter::kIsRate);
  state.counters["server_us/request"] = (server_cpu - cpu_before) * 1e6 / requests;
}
BENCHMARK(HttpsRequest)
    ->Arg(300)
    ->Arg(4500)
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

std::size_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  std::size_t total = 0;
  std::size_t resident = 0;
  const int read = std::fscanf(file, "%zu %zu", &total, &resident);
  std::fclose(file);
  MUSTER_ASSERT(read == 2, "the kernel tells the size of a process");
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// The other ends, until the pipe is closed.
[[noreturn]] void hold_connections(const Pki& pki, int port_pipe) {
  std::uint16_t port = 0;
  MUSTER_ASSERT(read(port_pipe, &port, sizeof port) == sizeof port, "the server has started");
  const TlsContext context = make_client_tls({.ca_pem = pki.authority.certificate_pem}).value();
  std::vector<Asker> askers;
  std::vector<char> buffer(4096);
  for (int i = 0; i < kIdleConnections; ++i) {
    askers.emplace_back(port, context);
    askers.back().first_answer(buffer);
  }
  (void)read(port_pipe, &port, sizeof port);
  _exit(0);
}

void IdleConnections(benchmark::State& state) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const Pki pki;
  std::array<int, 2> pipe_ends;
  MUSTER_ASSERT(pipe(pipe_ends.data()) == 0, "a pipe");
  const pid_t child = fork();  // before the server's thread exists
  if (child == 0) {
    close(pipe_ends[1]);
    hold_connections(pki, pipe_ends[0]);
  }
  const auto server = HttpServer::start({.certificate_pem = pki.server.certificate_pem,
                                         .private_key_pem = pki.server.private_key_pem,
                                         .threads = 1,
                                         .limits = {.idle = std::chrono::hours(1)}},
                                        [](const std::shared_ptr<http::Exchange>& exchange) {
                                          exchange->respond({});
                                        })
                          .value();
  const std::size_t before = resident_bytes();
  for (auto _ : state) {
    const std::uint16_t port = server->port();
    MUSTER_ASSERT(write(pipe_ends[1], &port, sizeof port) == sizeof port, "the child listens");
    while (server->stats().requests < kIdleConnections) poll(nullptr, 0, 10);
  }
  state.counters["bytes/connection"] =
      static_cast<double>(resident_bytes() - before) / kIdleConnections;
  close(pipe_ends[1]);
  waitpid(child, nullptr, 0);
}
BENCHMARK(IdleConnections)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::net
