// Tables (spec: apimachinery 7.3): the envelope around the rows that api/columns makes.
#include "api/tables/columns.h"
#include "json/write.h"
#include "server/render.h"

namespace muster::server {
namespace {

void append_meta(std::string& out, const ListMeta& meta) {
  out += fmt::format(R"("metadata":{{"resourceVersion":"{}")", meta.revision);
  if (!meta.continue_token.empty()) {
    out += fmt::format(R"(,"continue":"{}")", meta.continue_token);
    if (meta.remaining) out += fmt::format(R"(,"remainingItemCount":{})", *meta.remaining);
  }
  out += '}';
}

}  // namespace

std::string Renderer::row_object(const store::ObjectPtr& object) const {
  switch (include_) {
    case IncludeObject::kNone:
      return "null";
    case IncludeObject::kObject:
      return std::string(as_is(object).text);
    case IncludeObject::kMetadata:
      break;
  }
  return partial(*object);
}

std::string Renderer::table(const std::vector<store::ObjectPtr>& items, const ListMeta& meta,
                            bool columns) const {
  const api::TableRenderer rows(*resource_);
  std::string out =
      fmt::format(R"({{"kind":"Table","apiVersion":"meta.k8s.io/{}",)", meta_version_);
  append_meta(out, meta);
  out += R"(,"columnDefinitions":)";
  {
    json::Arena arena;
    json::write(out, columns ? rows.definitions(arena) : json::Value());
  }
  out += R"(,"rows":[)";
  for (std::size_t i = 0; i < items.size(); ++i) {
    json::Arena arena;  // one per row: a large list does not hold all trees at once
    const json::Value object = tree_of(arena, *items[i], *resource_);
    const json::Value cells = json::Value::array(arena);
    rows.append_cells(object, now_, cells);
    out += i == 0 ? R"({"cells":)" : R"(,{"cells":)";
    json::write(out, cells);
    if (const json::Value conditions = rows.row_conditions(arena, object); !conditions.is_null()) {
      out += R"(,"conditions":)";
      json::write(out, conditions);
    }
    out += R"(,"object":)";
    out += row_object(items[i]);
    out += '}';
  }
  out += "]}";
  return out;
}

}  // namespace muster::server
