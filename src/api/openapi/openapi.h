// OpenAPI of what is served (spec: apimachinery 7.2). v3 is an index, and one document per group
// and version: kubectl reads them for `explain`, to choose the kind of patch that `apply` sends,
// and to see whether the server validates fields. v2 is one document of everything (openapi_v2.h).
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "api/openapi/discovery.h"
#include "api/schema/registry.h"

namespace muster::api {

// Documents are made when first asked for, then kept. Callable from any thread.
class OpenApi {
 public:
  explicit OpenApi(const Registry& registry);

  // /openapi/v3: where the documents are, by their hashes; makes all of them.
  const Document& index() const;
  // By group and version as in URLs: "api/v1", "apis/batch/v1". Null pointer if not served.
  const Document* find(std::string_view path) const;
  // "/openapi/v3/apis/batch/v1?hash=…": the URL under which a document never changes.
  static std::string url(std::string_view path, const Document& document);

  // /openapi/v2, as JSON and as protobuf.
  const Document& v2() const { return both_v2().json; }
  const Document& v2_protobuf() const { return both_v2().protobuf; }

 private:
  struct BothV2 {
    Document json;
    Document protobuf;
  };
  struct Lazy {
    std::string group;
    std::string version;
    mutable std::once_flag made;
    mutable Document document;
  };
  const Document& get(const Lazy& lazy) const;
  const BothV2& both_v2() const;

  const Registry& registry_;
  std::map<std::string, Lazy, std::less<>> documents_;
  mutable std::once_flag index_made_;
  mutable Document index_;
  mutable std::once_flag v2_made_;
  mutable BothV2 v2_;
};

}  // namespace muster::api
