// Any text: what can be read as YAML is written as YAML that reads back as itself.
#include "base/result.h"
#include "json/parse.h"
#include "json/write.h"
#include "json/yaml.h"

using namespace muster::json;

namespace {

void check_round_trip(Arena& arena, Value value) {
  const auto back = parse_yaml(arena, write_yaml(value), {.positions = false});
  MUSTER_ASSERT(back.has_value(), "we cannot read what we wrote");
  MUSTER_ASSERT(back->size() == (value.is_null() ? 0 : 1), "another number of documents");
  MUSTER_ASSERT(value.is_null() || equal(back->front().root, value), "another value");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Arena arena;
  if (const auto documents = parse_yaml(arena, text))
    for (const YamlDocument& document : *documents) check_round_trip(arena, document.root);
  if (const auto json = parse(arena, text)) check_round_trip(arena, *json);
  return 0;
}
