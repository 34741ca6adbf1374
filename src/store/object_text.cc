#include "store/object_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/views/meta.h"
#include "json/parse.h"

namespace muster::store {
namespace {

constexpr const char* kNoObject = " is damaged: its text is not an object with metadata";

// A damaged row may hold anything; it goes to a terminal.
std::string printable(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(result, [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return result;
}

}  // namespace

std::string name_of(const Record& record) {
  return printable(fmt::format("revision {} ({} {}/{})", record.revision, record.resource,
                               record.ns, record.name));
}

std::string fault_in_text(const Record& record) {
  if (!json::is_json(record.text)) return name_of(record) + " is damaged: its text is not JSON";
  const auto meta = api::read_meta(record.text);
  if (!meta || meta->resource_version.empty()) return name_of(record) + kNoObject;
  if (meta->name == record.name && meta->ns == record.ns) return "";
  return name_of(record) + " is damaged: its text is that of another object";
}

}  // namespace muster::store
