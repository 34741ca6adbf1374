// What the server serves, for clients that ask first (spec: apimachinery 7.1): /api, /apis and
// below, in the aggregated form that clients want now and in the lists of old.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/registry.h"

namespace muster::api {

// A document that is built once and sent as it is.
struct Document {
  std::string body;  // JSON, unless said otherwise
  std::string etag;  // quoted, upper-case hex of the body's SHA-512
};
Document make_document(std::string body);

// All documents but one, built by the constructor; immutable afterwards.
class Discovery {
 public:
  explicit Discovery(const Registry& registry);

  // /api and /apis as APIGroupDiscoveryList (v2). Null pointer for every other path.
  const Document* aggregated(std::string_view path) const { return find(aggregated_, path); }
  // /apis, /api/v1, /apis/G and /apis/G/V, without a slash at the end. Null pointer if not served.
  const Document* legacy(std::string_view path) const { return find(legacy_, path); }
  // /api in the old form. It names the host and port that clients use, which are not known until
  // the server listens.
  std::string api_versions(std::string_view server_address) const;
  std::vector<std::string> paths() const;  // of the legacy documents, sorted

 private:
  using Documents = std::map<std::string, Document, std::less<>>;
  static const Document* find(const Documents& documents, std::string_view path);

  const Registry& registry_;
  Documents aggregated_;
  Documents legacy_;
};

}  // namespace muster::api
