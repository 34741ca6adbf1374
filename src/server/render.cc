#include "server/render.h"

#include "api/decode/decode.h"
#include "api/versions/convert.h"
#include "json/parse.h"
#include "json/write.h"
#include "server/canonical.h"
#include "server/errors.h"

namespace muster::server {
namespace {

json::Value parse_stored(json::Arena& arena, const store::Object& object) {
  const Result<json::Value> tree = json::parse(arena, object.bytes());
  MUSTER_ASSERT(tree.has_value(), "stored objects are well formed");
  return *tree;
}

// `{"kind":"Pod","apiVersion":"v1",` with which the stored text of a built-in kind begins. Items of
// a list go without.
std::string type_prefix(const api::Resource& resource) {
  return fmt::format(R"({{"kind":"{}","apiVersion":"{}",)", resource.gvk.kind,
                     resource.gvk.api_version());
}

void append_list_meta(std::string& out, const ListMeta& meta, bool custom) {
  out += R"("metadata":{)";
  const bool more = !meta.continue_token.empty();
  if (custom) {  // alphabetical, and an empty continue is written
    out += fmt::format(R"("continue":"{}",)", meta.continue_token);
    if (more && meta.remaining) out += fmt::format(R"("remainingItemCount":{},)", *meta.remaining);
    out += fmt::format(R"("resourceVersion":"{}"}})", meta.revision);
    return;
  }
  out += fmt::format(R"("resourceVersion":"{}")", meta.revision);
  if (more) out += fmt::format(R"(,"continue":"{}")", meta.continue_token);
  if (more && meta.remaining) out += fmt::format(R"(,"remainingItemCount":{})", *meta.remaining);
  out += '}';
}

}  // namespace

Result<IncludeObject> parse_include_object(std::string_view text) {
  if (text.empty() || text == "Metadata") return IncludeObject::kMetadata;
  if (text == "None") return IncludeObject::kNone;
  if (text == "Object") return IncludeObject::kObject;
  return std::unexpected(
      bad_request(fmt::format("Unable to convert to Table as requested: includeObject: Invalid "
                              "value: \"{}\": must be 'Metadata', "
                              "'Object', 'None', or empty",
                              text)));
}

json::Value tree_of(json::Arena& arena, const store::Object& object,
                    const api::Resource& resource) {
  return api::read_as(arena, parse_stored(arena, object), resource);
}

store::ObjectPtr with_revision(const store::Object& object, const api::Resource& resource,
                               store::Revision revision) {
  json::Arena arena;
  const json::Value tree = tree_of(arena, object, *resource.storage);
  return std::make_shared<store::Object>(with_gap(tree).with(std::to_string(revision)), revision);
}

http::Chunk Renderer::as_is(const store::ObjectPtr& object) const {
  if (resource_->storage == resource_) return {object->bytes(), object};
  json::Arena arena;
  return http::Chunk::own(json::write(tree_of(arena, *object, *resource_)));
}

std::string Renderer::partial(const store::Object& object) const {
  json::Arena arena;
  std::string out =
      fmt::format(R"({{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/{}","metadata":)",
                  meta_version_);
  json::write(out, parse_stored(arena, object).get("metadata"));
  out += '}';
  return out;
}

http::Chunk Renderer::object(const store::ObjectPtr& object) const {
  switch (shape_) {
    case Shape::kPartial:
      return http::Chunk::own(partial(*object));
    case Shape::kTable:
      return http::Chunk::own(table({object}, {.revision = object->revision()}, true));
    case Shape::kObject:
      break;
  }
  return as_is(object);
}

std::vector<http::Chunk> Renderer::list(const std::vector<store::ObjectPtr>& items,
                                        const ListMeta& meta) const {
  std::vector<http::Chunk> out;
  if (shape_ == Shape::kTable) {
    out.push_back(http::Chunk::own(table(items, meta, true) + "\n"));
    return out;
  }
  const bool bare_items = shape_ == Shape::kObject && !resource_->custom;
  std::string head;
  if (shape_ == Shape::kPartial) {
    head = fmt::format(R"({{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/{}",)",
                       meta_version_);
  } else if (resource_->custom) {
    head = fmt::format(R"({{"apiVersion":"{}","items":[)", resource_->gvk.api_version());
  } else {
    head = fmt::format(R"({{"kind":"{}","apiVersion":"{}",)", resource_->list_kind,
                       resource_->gvk.api_version());
  }
  const bool alphabetical = shape_ == Shape::kObject && resource_->custom;
  if (!alphabetical) {
    append_list_meta(head, meta, false);
    head += R"(,"items":[)";
  }
  const std::string prefix = bare_items ? type_prefix(*resource_) : "{";
  out.reserve(items.size() * 2 + 2);
  out.push_back(http::Chunk::own(std::move(head)));
  for (std::size_t i = 0; i < items.size(); ++i) {
    http::Chunk text = object(items[i]);
    if (bare_items && text.text.starts_with(prefix)) {
      text.text.remove_prefix(prefix.size());
      out.push_back(http::Chunk::literal(i == 0 ? "{" : ",{"));
    } else if (i > 0) {
      out.push_back(http::Chunk::literal(","));
    }
    out.push_back(std::move(text));
  }
  std::string tail = "]";
  if (alphabetical) {
    tail += fmt::format(R"(,"kind":"{}",)", resource_->list_kind);
    append_list_meta(tail, meta, true);
  }
  out.push_back(http::Chunk::own(tail + "}\n"));
  return out;
}

std::vector<http::Chunk> Renderer::event(std::string_view type, const store::ObjectPtr& object,
                                         bool first) const {
  std::vector<http::Chunk> out;
  out.push_back(http::Chunk::own(fmt::format(R"({{"type":"{}","object":)", type)));
  if (shape_ == Shape::kTable) {
    out.push_back(http::Chunk::own(table({object}, {.revision = object->revision()}, first)));
  } else {
    out.push_back(this->object(object));
  }
  out.push_back(http::Chunk::literal("}\n"));
  return out;
}

store::ObjectPtr Renderer::bookmark(store::Revision revision, bool ends_initial_events) const {
  json::Arena arena;
  const api::Resource& stored = *resource_->storage;
  const json::Value empty = json::Value::object(arena, 3);
  empty.set("kind", stored.gvk.kind);
  empty.set("apiVersion", stored.gvk.api_version());
  const json::Value metadata = empty.object_at("metadata");
  metadata.set("resourceVersion", std::to_string(revision));
  if (ends_initial_events)
    metadata.object_at("annotations").set("k8s.io/initial-events-end", "true");
  api::DecodeReport report;
  const Result<json::Value> object = api::decode(arena, empty, stored, report);
  MUSTER_ASSERT(object.has_value(), "an empty object decodes");
  return std::make_shared<store::Object>(json::write(*object), revision);
}

}  // namespace muster::server
