// Any bytes as a protobuf body: reading is safe, and what it gives is decoded like a JSON body.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/decode/decode.h"
#include "json/parse.h"
#include "json/write.h"

using namespace muster;  // a fuzz target is a program

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const api::Registry& registry = api::Registry::builtin();
  json::Arena arena;
  // The magic is given, so that the fuzzer need not find it.
  const std::string body =
      std::string("k8s\0", 4).append(reinterpret_cast<const char*>(data), size);
  const Result<json::Value> tree = api::decode_protobuf(arena, body, registry);
  if (!tree) return 0;
  const api::Schema* const type =
      registry.type_of_kind(tree->get("apiVersion").as_string(), tree->get("kind").as_string());
  if (type == nullptr) std::abort();
  api::DecodeReport report;
  const Result<json::Value> object = api::decode_type(arena, *tree, *type, false, report);
  if (!report.unknown.empty()) std::abort();  // every field came from the schema
  if (!object) return 0;
  json::Arena other;
  if (!json::parse(other, json::write(*object))) std::abort();
  return 0;
}
