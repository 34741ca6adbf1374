// What waits to be written to one connection: pieces that are shared, not copied, while they wait.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/http.h"

namespace muster::net {

class OutputQueue {
 public:
  void push(http::Chunk chunk);
  bool empty() const { return bytes_ == 0; }
  std::size_t bytes() const { return bytes_; }

  // The next bytes to write, at least one unless empty. Small pieces are gathered in `scratch`:
  // TLS copies what it encrypts anyway, and a record per piece would cost a system call each. A
  // piece that fills the scratch is returned where it lies. Calling again before consume(), also
  // after more was pushed, gives the same bytes or more of them.
  std::string_view next(std::span<char> scratch) const;
  void consume(std::size_t count);
  void clear();

 private:
  std::vector<http::Chunk> chunks_;
  std::size_t first_ = 0;  // in chunks_; those before it are empty
  std::size_t bytes_ = 0;
};

}  // namespace muster::net
