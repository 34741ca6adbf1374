// Any JSON as an object of the kind that it names, or else of the one that the first byte says:
// decoding is safe, and what it gives decodes to itself.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/decode/decode.h"
#include "json/parse.h"
#include "json/write.h"

using namespace muster;  // a fuzz target is a program

namespace {

void must(bool condition) {
  if (!condition) std::abort();
}

const api::Resource& resource_for(json::Value tree, std::uint8_t choice) {
  const api::Registry& registry = api::Registry::builtin();
  const api::Resource* const named =
      registry.find_kind(tree.get("apiVersion").as_string(), tree.get("kind").as_string());
  return named != nullptr ? *named : *registry.resources()[choice % registry.resources().size()];
}

std::string decode_again(const std::string& text, const api::Resource& resource) {
  json::Arena arena;
  api::DecodeReport report;
  const Result<json::Value> tree = json::parse(arena, text);
  must(tree.has_value());
  const Result<json::Value> object = api::decode(arena, *tree, resource, report);
  must(object.has_value());
  must(report.unknown.empty());
  return json::write(*object);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  json::Arena arena;
  const Result<json::Value> tree =
      json::parse(arena, std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  if (!tree) return 0;
  const api::Resource& resource = resource_for(*tree, data[0]);
  api::DecodeReport report;
  const Result<json::Value> object = api::decode(arena, *tree, resource, report);
  if (!object) return 0;
  const std::string once = json::write(*object);
  must(decode_again(once, resource) == once);
  if (resource.custom) {
    api::FieldErrors errors;
    api::apply_schema_defaults(*object, *resource.schema);
    api::validate_schema(*object, *resource.schema, errors);
    const std::string defaulted = json::write(*object);
    must(decode_again(defaulted, resource) == defaulted);
  }
  return 0;
}
