// The token by which a paged list goes on (spec: apimachinery 4.2). Clients treat it as opaque.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::server {

struct ContinueToken {
  // The version of the first page; 0: go on at the newest (written as -1).
  std::uint64_t revision = 0;
  std::string
      ns;  // of the last object sent; empty in lists of one namespace and of cluster-scoped kinds
  std::string name;
};

enum class ListScope : std::uint8_t { kCluster, kNamespace, kAllNamespaces };

std::string encode_continue(const ContinueToken& token, ListScope scope);
// kBadRequest: `continue key is not valid: …`.
Result<ContinueToken> decode_continue(std::string_view text, ListScope scope);

}  // namespace muster::server
