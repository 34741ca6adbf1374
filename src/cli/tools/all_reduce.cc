#include "cli/tools/all_reduce.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/number.h"
#include "cli/tools/sockets.h"

namespace muster::cli {
namespace {

constexpr Duration kPatience = std::chrono::seconds(60);

using Number = std::array<char, sizeof(std::int64_t)>;

Number bytes_of(std::int64_t value) {
  Number out;
  std::memcpy(out.data(), &value, out.size());
  return out;
}

std::string_view view(const Number& number) { return {number.data(), number.size()}; }

Result<std::int64_t> receive_number(int socket) {
  Number bytes{};
  MUSTER_CHECK(receive_all(socket, bytes.data(), bytes.size()));
  std::int64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

Result<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') {
    return fail(Code::kInvalid,
                fmt::format("{} is not set: the JobSet needs the annotation muster.dev/rank-env: "
                            "\"true\"",
                            name));
  }
  return std::string(value);
}

Result<int> number(const char* name) {
  MUSTER_TRY(const std::string text, variable(name));
  const auto value = parse_number<int>(text);
  if (!value || *value < 0)
    return fail(Code::kInvalid, fmt::format("{}={} is no number", name, text));
  return *value;
}

void say(const AllReduceOptions& options, std::string_view text) {
  fmt::print("rank {} of {}: {}\n", options.rank, options.world_size, text);
  std::fflush(stdout);
}

// What rank 0 does: takes in everybody's number, gives everybody the sum.
class Root {
 public:
  Status gather(const AllReduceOptions& options) {
    MUSTER_TRY(const UniqueFd listener, listen_at(options.master_address, options.master_port));
    for (int i = 1; i < options.world_size; ++i) {
      MUSTER_TRY(UniqueFd peer, accept_from(listener.get()));
      peers_.push_back(std::move(peer));
    }
    return {};
  }
  Result<std::int64_t> sum(std::int64_t own) {
    for (const UniqueFd& peer : peers_) {
      MUSTER_TRY(const std::int64_t value, receive_number(peer.get()));
      own += value;
    }
    for (const UniqueFd& peer : peers_) MUSTER_CHECK(send_all(peer.get(), view(bytes_of(own))));
    return own;
  }

 private:
  std::vector<UniqueFd> peers_;
};

Result<std::int64_t> sum_by_root(int root, std::int64_t own) {
  MUSTER_CHECK(send_all(root, view(bytes_of(own))));
  return receive_number(root);
}

}  // namespace

Result<AllReduceOptions> all_reduce_options() {
  AllReduceOptions options;
  MUSTER_TRY(options.rank, number("RANK"));
  MUSTER_TRY(options.world_size, number("WORLD_SIZE"));
  MUSTER_TRY(options.master_address, variable("MASTER_ADDR"));
  MUSTER_TRY(options.master_port, variable("MASTER_PORT"));
  if (options.rank >= options.world_size)
    return fail(Code::kInvalid, "RANK must be below WORLD_SIZE");
  return options;
}

Status all_reduce(const AllReduceOptions& options) {
  Root root;
  UniqueFd connection;
  if (options.rank == 0) {
    MUSTER_CHECK(root.gather(options));
  } else {
    MUSTER_TRY(connection, connect_to(options.master_address, options.master_port, kPatience));
  }
  MUSTER_TRY(const std::string address, resolve(options.master_address));
  say(options,
      fmt::format("joined at {} ({}:{})", options.master_address, address, options.master_port));
  for (int step = 1; step <= options.steps; ++step) {
    const std::int64_t own = std::int64_t{options.rank} + step;
    MUSTER_TRY(const std::int64_t sum,
               options.rank == 0 ? root.sum(own) : sum_by_root(connection.get(), own));
    const std::int64_t n = options.world_size;
    if (sum != n * (n - 1) / 2 + n * step)
      return fail(Code::kInternal, fmt::format("step {}: {} is not the sum", step, sum));
    say(options, fmt::format("step {}, the sum of all ranks is {}", step, sum));
  }
  return {};
}

}  // namespace muster::cli
