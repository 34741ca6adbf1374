// Whatever parses as a label selector must print as text that parses to the same selector. Field
// selectors have no text form: parsing must merely come to an end.
#include "api/values/selector.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using muster::api::LabelSelector;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto selector = LabelSelector::parse(text)) {
    const auto again = LabelSelector::parse(selector->text());
    MUSTER_ASSERT(again && again->text() == selector->text(), "a selector's text is that selector");
    selector->matches([](std::string_view key) -> std::optional<std::string_view> {
      if (key.size() % 2 == 0) return std::nullopt;
      return key;
    });
  }
  if (const auto selector = muster::api::FieldSelector::parse(text)) {
    selector->matches([](std::string_view field) { return std::string(field); });
  }
  return 0;
}
