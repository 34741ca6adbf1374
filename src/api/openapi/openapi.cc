#include "api/openapi/openapi.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "api/openapi/openapi_paths.h"
#include "api/openapi/openapi_v2.h"
#include "api/schema/schema_json.h"
#include "json/write.h"

namespace muster::api {
namespace {

using json::Value;

constexpr std::string_view kVersion = "1.36";  // of the Kubernetes API that is served
constexpr std::string_view kListMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

void add_kind(Value component, std::string_view group, std::string_view version,
              std::string_view kind) {
  const Value entry = Value::object(component.arena(), 3);
  entry.set("group", group);
  entry.set("kind", kind);
  entry.set("version", version);
  component.array_at("x-kubernetes-group-version-kind").push_back(entry);
}

// Makes one document. Types are written when something refers to them; writing one may refer to
// more.
class DocumentWriter {
 public:
  struct Scope {
    std::string_view group;
    std::string_view version;
  };
  // Of one group and version, or of all.
  DocumentWriter(const Registry& registry, json::Arena& arena, std::optional<Scope> scope)
      : registry_(registry), scope_(scope), arena_(arena) {}
  Value write();

 private:
  bool covers(std::string_view group, std::string_view version) const {
    return !scope_ || (scope_->group == group && scope_->version == version);
  }
  void refer(const Schema& schema) {
    if (seen_.insert(schema.type_name).second) pending_.push_back(&schema);
  }
  void add_resource(const Resource& resource);
  void add_custom_components(const Resource& resource);
  void add_list_component(const Resource& resource);
  void add_component(const Schema& schema);
  void add_kinds(const Schema& schema, Value component) const;

  const Registry& registry_;
  std::optional<Scope> scope_;
  json::Arena& arena_;
  Value paths_ = Value::object(arena_);
  Value components_ = Value::object(arena_);
  std::set<std::string_view> seen_;
  std::vector<const Schema*> pending_;
};

void DocumentWriter::add_resource(const Resource& resource) {
  add_resource_paths(registry_, resource, paths_, [this](const Schema& schema) { refer(schema); });
  if (resource.custom) {
    add_custom_components(resource);
    return;
  }
  refer(*resource.schema);
  if (!resource.has_verb("list")) return;
  if (const Schema* list = registry_.type(list_component_name(resource))) {
    refer(*list);
  } else {
    add_list_component(resource);
  }
}

void DocumentWriter::add_custom_components(const Resource& resource) {
  SchemaJson schema_json(arena_, SchemaJson::Style::kInline);
  const Value component = schema_json.type(*resource.schema);
  add_kind(component, resource.gvk.group, resource.gvk.version, resource.gvk.kind);
  components_.set(component_name(resource), component);
  for (const Schema* schema : schema_json.referenced()) refer(*schema);
  add_list_component(resource);
}

// Of kinds whose list the data does not declare as a type.
void DocumentWriter::add_list_component(const Resource& resource) {
  const Value list = Value::object(arena_, 5);
  list.set("description", fmt::format("A list of {}.", resource.gvk.kind));
  list.set("type", "object");
  list.array_at("required").push_back(Value::view("items"));
  const Value properties = list.object_at("properties");
  properties.object_at("apiVersion").set("type", "string");
  const Value items = properties.object_at("items");
  items.set("type", "array");
  items.set("items", reference_to(arena_, component_name(resource)));
  properties.object_at("kind").set("type", "string");
  properties.object_at("metadata").array_at("allOf").push_back(reference_to(arena_, kListMeta));
  add_kind(list, resource.gvk.group, resource.gvk.version, resource.list_kind);
  components_.set(list_component_name(resource), list);
  refer(*registry_.type(kListMeta));
}

// A type of several kinds (DeleteOptions is one of every group) says only those of this document
// and core.
void DocumentWriter::add_kinds(const Schema& schema, Value component) const {
  for (const std::string_view name : schema.kinds) {
    const auto last = name.rfind('/');
    const auto first = name.find('/');
    const auto group = first == last ? "" : name.substr(0, first);
    const auto version =
        first == last ? name.substr(0, last) : name.substr(first + 1, last - first - 1);
    const bool here = group.empty() || covers(group, version);
    if (here || schema.kinds.size() == 1)
      add_kind(component, group, version, name.substr(last + 1));
  }
}

void DocumentWriter::add_component(const Schema& schema) {
  // The place may have been a variant of the type.
  const Schema* type = registry_.type(schema.type_name);
  SchemaJson schema_json(arena_, SchemaJson::Style::kReference);
  const Value component = schema_json.type(*type);
  add_kinds(*type, component);
  components_.set(type->type_name, component);
  for (const Schema* each : schema_json.referenced()) refer(*each);
}

Value DocumentWriter::write() {
  for (const Resource* resource : registry_.resources()) {
    if (covers(resource->gvk.group, resource->gvk.version)) add_resource(*resource);
  }
  while (!pending_.empty()) {
    const Schema* next = pending_.back();
    pending_.pop_back();
    add_component(*next);
  }
  paths_.sort_keys();
  components_.sort_keys();

  const Value document = Value::object(arena_, 4);
  document.set("openapi", "3.0.0");
  const Value info = document.object_at("info");
  info.set("title", "Kubernetes");
  info.set("version", kVersion);
  document.set("paths", paths_);
  document.object_at("components").set("schemas", components_);
  const Value token =
      document.get("components").object_at("securitySchemes").object_at("BearerToken");
  token.set("type", "apiKey");
  token.set("name", "authorization");
  token.set("in", "header");
  return document;
}

}  // namespace

OpenApi::OpenApi(const Registry& registry) : registry_(registry) {
  for (const GroupVersions& group : registry.groups()) {
    for (const std::string& version : group.versions) {
      const auto root = group.group.empty() ? std::string("api/") : "apis/" + group.group + "/";
      Lazy& lazy = documents_[root + version];
      lazy.group = group.group;
      lazy.version = version;
    }
  }
}

const Document& OpenApi::get(const Lazy& lazy) const {
  std::call_once(lazy.made, [&] {
    json::Arena arena;
    DocumentWriter writer(registry_, arena, DocumentWriter::Scope{lazy.group, lazy.version});
    lazy.document = make_document(json::write(writer.write()));
  });
  return lazy.document;
}

const OpenApi::BothV2& OpenApi::both_v2() const {
  std::call_once(v2_made_, [&] {
    json::Arena arena;
    const Value document = to_openapi_v2(DocumentWriter(registry_, arena, std::nullopt).write());
    v2_.json = make_document(json::write(document));
    v2_.protobuf = make_document(openapi_v2_protobuf(document));
  });
  return v2_;
}

const Document* OpenApi::find(std::string_view path) const {
  const auto found = documents_.find(path);
  return found == documents_.end() ? nullptr : &get(found->second);
}

std::string OpenApi::url(std::string_view path, const Document& document) {
  return fmt::format("/openapi/v3/{}?hash={}", path,
                     document.etag.substr(1, document.etag.size() - 2));
}

const Document& OpenApi::index() const {
  std::call_once(index_made_, [&] {
    json::Arena arena;
    const Value root = Value::object(arena, 1);
    const Value paths = root.object_at("paths");
    for (const auto& [path, lazy] : documents_) {
      paths.object_at(path).set("serverRelativeURL", url(path, get(lazy)));
    }
    index_ = make_document(json::write(root));
  });
  return index_;
}

}  // namespace muster::api
