// The little of HPACK (RFC 7541) that one gRPC call needs: fields are written as literals and read
// without a dynamic table, which the peer is told not to use. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::agent {

struct HeaderField {
  std::string name;  // empty: of the static table, and nothing that a call's answer is judged by
  std::string value;
};

void append_header(std::string& block, std::string_view name, std::string_view value);

// Fails if the block is malformed or refers to a dynamic table.
Result<std::vector<HeaderField>> read_headers(std::string_view block);

// Fails if the bits are no such text.
Result<std::string> huffman_text(std::string_view bytes);

}  // namespace muster::agent
