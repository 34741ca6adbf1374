// Which form the client wants and which one it sent (Accept and Content-Type).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::server {

enum class Encoding : std::uint8_t { kJson, kYaml, kProtobuf };
enum class Shape : std::uint8_t {
  kObject,
  kTable,
  kPartial
};  // kPartial: PartialObjectMetadata, or a list of them

struct Accepted {
  Encoding encoding = Encoding::kJson;
  Shape shape = Shape::kObject;
  std::string meta_version = "v1";  // of meta.k8s.io, for kTable and kPartial
};

struct AcceptRules {
  bool custom = false;     // custom resources have no protobuf form
  bool reshape = true;     // Tables and partial metadata may be asked for (reads)
  bool watchable = false;  // a collection: upstream names the stream types, too, when it refuses
};

// kNotAcceptable if nothing that the client would take can be given.
Result<Accepted> negotiate(std::string_view accept, const AcceptRules& rules);

// For documents that are no objects: kNotAcceptable unless the client takes one of the types,
// whatever else it asks of it.
Status check_accept(std::string_view accept, std::initializer_list<std::string_view> types);

// The type without parameters, in lower case: "application/json" of "Application/JSON;
// charset=utf-8".
std::string media_type(std::string_view content_type);
// kUnsupportedMediaType unless it is JSON, YAML or (not for custom resources) protobuf. Empty is
// JSON.
Result<Encoding> body_encoding(std::string_view content_type, bool custom);

}  // namespace muster::server
