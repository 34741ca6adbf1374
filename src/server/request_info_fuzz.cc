// Targets of requests, Accept headers and continue tokens: whatever is sent is read or refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/continue_token.h"
#include "server/media_type.h"
#include "server/request_info.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::server;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto info = parse_request("GET", text);
  if (info && info->is_resource) MUSTER_ASSERT(!info->version.empty(), "a resource has a version");
  (void)negotiate(text, {});
  for (const ListScope scope :
       {ListScope::kCluster, ListScope::kNamespace, ListScope::kAllNamespaces}) {
    const auto token = decode_continue(text, scope);
    if (!token) continue;
    const auto again = decode_continue(encode_continue(*token, scope), scope);
    MUSTER_ASSERT(again && again->name == token->name && again->ns == token->ns,
                  "a token goes both ways");
  }
  return 0;
}
