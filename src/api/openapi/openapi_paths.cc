#include "api/openapi/openapi_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "api/schema/schema_json.h"

namespace muster::api {
namespace {

using json::Value;

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

struct Parameter {
  std::string_view name;
  std::string_view type;
  std::string_view description;
};

constexpr Parameter kContinue{"continue", "string",
                              "The token of the last page, to read the next one."};
constexpr Parameter kDryRun{"dryRun", "string", "All: do everything but store the result."};
constexpr Parameter kFieldManager{"fieldManager", "string",
                                  "The name under which changed fields are owned."};
constexpr Parameter kFieldSelector{"fieldSelector", "string", "Only objects whose fields match."};
constexpr Parameter kFieldValidation{
    "fieldValidation", "string",
    "What to do about unknown and duplicate fields: Ignore, Warn or Strict."};
constexpr Parameter kForce{"force", "boolean", "Take fields over from other owners."};
constexpr Parameter kGracePeriod{"gracePeriodSeconds", "integer",
                                 "How long the object may take to end; 0 is at once."};
constexpr Parameter kIgnoreReadError{
    "ignoreStoreReadErrorWithClusterBreakingPotential", "boolean",
    "For objects that the store cannot read any more; there are none here, so it has no effect."};
constexpr Parameter kLabelSelector{"labelSelector", "string", "Only objects whose labels match."};
constexpr Parameter kLimit{"limit", "integer", "At most so many objects in one answer."};
constexpr Parameter kOrphan{"orphanDependents", "boolean", "Deprecated: use propagationPolicy."};
constexpr Parameter kPropagation{"propagationPolicy", "string",
                                 "What becomes of dependents: Orphan, Background or Foreground."};
constexpr Parameter kResourceVersion{"resourceVersion", "string",
                                     "The version to read at, or to watch from."};
constexpr Parameter kVersionMatch{"resourceVersionMatch", "string",
                                  "How resourceVersion is meant: Exact or NotOlderThan."};
constexpr Parameter kInitialEvents{"sendInitialEvents", "boolean",
                                   "Begin a watch with the present state."};
constexpr Parameter kTimeout{"timeoutSeconds", "integer", "When to end a list or watch."};
constexpr Parameter kWatch{"watch", "boolean", "Stream changes instead of listing."};
constexpr Parameter kBookmarks{"allowWatchBookmarks", "boolean", "Send bookmarks in a watch."};
constexpr Parameter kPretty{"pretty", "string", "true: the answer is indented."};

constexpr std::array kListParameters{
    kBookmarks,       kContinue,     kFieldSelector, kLabelSelector, kLimit,
    kResourceVersion, kVersionMatch, kInitialEvents, kTimeout,       kWatch};
constexpr std::array kWriteParameters{kDryRun, kFieldManager, kFieldValidation};
constexpr std::array kPatchParameters{kDryRun, kFieldManager, kFieldValidation, kForce};
constexpr std::array kDeleteParameters{kDryRun, kGracePeriod, kIgnoreReadError, kOrphan,
                                       kPropagation};
constexpr std::array kDeleteCollectionParameters{
    kContinue,      kDryRun,        kFieldSelector, kGracePeriod, kIgnoreReadError,
    kLabelSelector, kLimit,         kOrphan,        kPropagation, kResourceVersion,
    kVersionMatch,  kInitialEvents, kTimeout};
constexpr std::array kLogParameters{
    Parameter{"container", "string", "The container whose log to read."},
    Parameter{"follow", "boolean", "Go on with what is written from now on."},
    Parameter{"limitBytes", "integer", "End after so many bytes."},
    Parameter{"previous", "boolean", "The log of the run before the last restart."},
    Parameter{"sinceSeconds", "integer", "Only lines that are not older."},
    Parameter{"stream", "string", "All, Stdout or Stderr."},
    Parameter{"tailLines", "integer", "Only the last lines."},
    Parameter{"timestamps", "boolean", "Begin every line with its time."},
};

std::string capitalized(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z')
    out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

// RbacAuthorization of rbac.authorization.k8s.io, Core of the core group, JobsetXK8sIo of
// jobset.x-k8s.io.
std::string camel_group(const Resource& resource) {
  std::string_view group =
      resource.gvk.group.empty() ? "core" : std::string_view(resource.gvk.group);
  if (!resource.custom && group.ends_with(".k8s.io")) group.remove_suffix(7);
  std::string camel;
  while (!group.empty()) {
    const auto end = std::min(group.find_first_of(".-"), group.size());
    camel += capitalized(group.substr(0, end));
    group.remove_prefix(std::min(end + 1, group.size()));
  }
  return camel;
}

std::string reversed(std::string_view group) {
  std::string out;
  for (;;) {
    const auto dot = group.rfind('.');
    out += group.substr(dot + 1);
    if (dot == std::string_view::npos) return out;
    out += '.';
    group = group.substr(0, dot);
  }
}

class PathWriter {
 public:
  PathWriter(const Registry& registry, const Resource& resource, Value paths,
             const std::function<void(const Schema&)>& refer)
      : registry_(registry),
        resource_(resource),
        paths_(paths),
        arena_(paths.arena()),
        refer_(refer) {}

  void add() {
    if (resource_.namespaced && resource_.has_verb("list")) add_list_of_all_namespaces();
    add_collection();
    if (resource_.has_verb("get")) add_item();
    for (const Subresource& subresource : resource_.subresources) add_subresource(subresource);
  }

 private:
  // What an operation is about: the resource itself or one of its subresources.
  struct Subject {
    const GroupVersionKind& kind;
    std::string component;
    std::string name_suffix;  // Status
  };

  std::string base() const {
    return (resource_.gvk.group.empty() ? "/api/" : "/apis/" + resource_.gvk.group + "/") +
           resource_.gvk.version;
  }
  std::string collection_path() const {
    return base() + (resource_.namespaced ? "/namespaces/{namespace}/" : "/") + resource_.plural;
  }
  Subject self() const { return {resource_.gvk, component_name(resource_), ""}; }
  std::string meta(std::string_view type) const;
  std::string scope() const { return resource_.namespaced ? "Namespaced" : ""; }

  Value parameter(std::string_view name, std::string_view where, std::string_view type,
                  std::string_view text) const;
  Value path_parameters(bool named) const;
  void set_parameters(Value operation, std::span<const Parameter> parameters) const;
  // verb + group + version + where + kind: createBatchV1NamespacedJobStatus
  std::string id(std::string_view verb, std::string_view where,
                 std::string_view suffix = "") const {
    return fmt::format("{}{}{}{}{}{}", verb, camel_group(resource_),
                       capitalized(resource_.gvk.version), where, resource_.gvk.kind, suffix);
  }
  Value operation(std::string_view id, const Subject& subject, std::string_view action) const;
  void set_body(Value operation, std::string_view component, bool required) const;
  void set_responses(Value operation, std::string_view component,
                     std::initializer_list<std::string_view> codes, bool watchable = false) const;

  void add_list_of_all_namespaces();
  void add_collection();
  void add_item();
  void add_subresource(const Subresource& subresource);
  Value list_operation(std::string_view id) const;
  Value read(const Subject& subject) const;
  Value create(const Subject& subject) const;
  Value replace(const Subject& subject) const;
  Value patch(const Subject& subject) const;
  Value remove() const;
  Value remove_collection() const;
  Value read_log() const;

  const Registry& registry_;
  const Resource& resource_;
  Value paths_;
  json::Arena& arena_;
  const std::function<void(const Schema&)>& refer_;
};

std::string PathWriter::meta(std::string_view type) const {
  std::string name = fmt::format("{}{}", kMeta, type);
  const Schema* schema = registry_.type(name);
  MUSTER_ASSERT(schema != nullptr, "a meta type is missing");
  refer_(*schema);
  return name;
}

Value PathWriter::parameter(std::string_view name, std::string_view where, std::string_view type,
                            std::string_view text) const {
  const Value value = Value::object(arena_, 5);
  value.set("name", name);
  value.set("in", where);
  value.set("description", text);
  if (where == "path") value.set("required", Value::of(true));
  const Value schema = value.object_at("schema");
  schema.set("type", type);
  schema.set("uniqueItems", Value::of(true));
  return value;
}

Value PathWriter::path_parameters(bool named) const {
  const Value list = Value::array(arena_, 3);
  if (named) {
    list.push_back(
        parameter("name", "path", "string", fmt::format("Name of the {}.", resource_.gvk.kind)));
  }
  if (resource_.namespaced)
    list.push_back(parameter("namespace", "path", "string", "Namespace of the object."));
  list.push_back(parameter(kPretty.name, "query", kPretty.type, kPretty.description));
  return list;
}

void PathWriter::set_parameters(Value operation, std::span<const Parameter> parameters) const {
  const Value list = operation.array_at("parameters");
  for (const Parameter& each : parameters) {
    list.push_back(parameter(each.name, "query", each.type, each.description));
  }
}

Value PathWriter::operation(std::string_view id, const Subject& subject,
                            std::string_view action) const {
  std::string tag = camel_group(resource_);
  tag[0] = static_cast<char>(tag[0] - 'A' + 'a');
  const Value value = Value::object(arena_, 7);
  value.array_at("tags").push_back(
      Value::string(arena_, fmt::format("{}_{}", tag, resource_.gvk.version)));
  value.set("operationId", id);
  value.set("x-kubernetes-action", action);
  const Value kind = value.object_at("x-kubernetes-group-version-kind");
  kind.set("group", subject.kind.group);
  kind.set("version", subject.kind.version);
  kind.set("kind", subject.kind.kind);
  return value;
}

void PathWriter::set_body(Value operation, std::string_view component, bool required) const {
  const Value body = operation.object_at("requestBody");
  const Value content = body.object_at("content");
  if (resource_.custom) {
    content.object_at("application/json").set("schema", reference_to(arena_, component));
    content.object_at("application/yaml").set("schema", reference_to(arena_, component));
  } else {
    content.object_at("*/*").set("schema", reference_to(arena_, component));
  }
  if (required) body.set("required", Value::of(true));
}

void PathWriter::set_responses(Value operation, std::string_view component,
                               std::initializer_list<std::string_view> codes,
                               bool watchable) const {
  const Value responses = operation.object_at("responses");
  for (const std::string_view code : codes) {
    const Value response = responses.object_at(code);
    response.set("description", "OK");
    const Value content = response.object_at("content");
    const auto add = [&](std::string_view type) {
      content.object_at(type).set("schema", reference_to(arena_, component));
    };
    add("application/json");
    if (watchable) add("application/json;stream=watch");
    if (!resource_.custom) add("application/vnd.kubernetes.protobuf");
    if (watchable && !resource_.custom) add("application/vnd.kubernetes.protobuf;stream=watch");
    add("application/yaml");
  }
  responses.object_at("401").set("description", "Unauthorized");
}

Value PathWriter::list_operation(std::string_view id) const {
  const Value value = operation(id, self(), "list");
  set_responses(value, list_component_name(resource_), {"200"}, true);
  return value;
}

void PathWriter::add_list_of_all_namespaces() {
  const Value path = paths_.object_at(fmt::format("{}/{}", base(), resource_.plural));
  path.set("get", list_operation(id("list", "", "ForAllNamespaces")));
  set_parameters(path, kListParameters);
  path.get("parameters")
      .push_back(parameter(kPretty.name, "query", kPretty.type, kPretty.description));
}

void PathWriter::add_collection() {
  const Value path = paths_.object_at(collection_path());
  if (resource_.has_verb("list")) {
    const Value list = list_operation(id("list", scope()));
    set_parameters(list, kListParameters);
    path.set("get", list);
  }
  if (resource_.has_verb("create")) path.set("post", create(self()));
  if (resource_.has_verb("deletecollection")) path.set("delete", remove_collection());
  path.set("parameters", path_parameters(false));
}

void PathWriter::add_item() {
  const Value path = paths_.object_at(collection_path() + "/{name}");
  path.set("get", read(self()));
  if (resource_.has_verb("update")) path.set("put", replace(self()));
  if (resource_.has_verb("delete")) path.set("delete", remove());
  if (resource_.has_verb("patch")) path.set("patch", patch(self()));
  path.set("parameters", path_parameters(true));
}

// Those that carry streams (exec, attach, port-forward, proxy) are no documents and stay out.
void PathWriter::add_subresource(const Subresource& subresource) {
  const bool is_log = subresource.name == "log";
  const bool own = subresource.response_kind == resource_.gvk;
  if (!own && (subresource.schema == nullptr || !subresource.schema->published)) return;
  if (!own) refer_(*subresource.schema);
  const Subject subject{subresource.response_kind,
                        own ? component_name(resource_) : subresource.schema->type_name,
                        capitalized(subresource.name)};
  const auto allows = [&](std::string_view verb) {
    return std::ranges::find(subresource.verbs, verb) != subresource.verbs.end();
  };
  const Value path =
      paths_.object_at(fmt::format("{}/{{name}}/{}", collection_path(), subresource.name));
  if (allows("get")) path.set("get", is_log ? read_log() : read(subject));
  if (allows("create")) path.set("post", create(subject));
  if (allows("update")) path.set("put", replace(subject));
  if (allows("patch")) path.set("patch", patch(subject));
  path.set("parameters", path_parameters(true));
}

Value PathWriter::read(const Subject& subject) const {
  const Value value = operation(id("read", scope(), subject.name_suffix), subject, "get");
  set_responses(value, subject.component, {"200"});
  return value;
}

Value PathWriter::read_log() const {
  const Value value = operation(id("read", scope(), "Log"), self(), "get");
  set_parameters(value, kLogParameters);
  const Value response = value.object_at("responses").object_at("200");
  response.set("description", "OK");
  response.object_at("content").object_at("text/plain").object_at("schema").set("type", "string");
  return value;
}

Value PathWriter::create(const Subject& subject) const {
  const Value value = operation(id("create", scope(), subject.name_suffix), subject, "post");
  set_parameters(value, kWriteParameters);
  set_body(value, subject.component, true);
  set_responses(value, subject.component, {"200", "201", "202"});
  return value;
}

Value PathWriter::replace(const Subject& subject) const {
  const Value value = operation(id("replace", scope(), subject.name_suffix), subject, "put");
  set_parameters(value, kWriteParameters);
  set_body(value, subject.component, true);
  set_responses(value, subject.component, {"200", "201"});
  return value;
}

// kubectl takes the kinds of patch from here: strategic merge only where the server knows the merge
// keys.
Value PathWriter::patch(const Subject& subject) const {
  const Value value = operation(id("patch", scope(), subject.name_suffix), subject, "patch");
  set_parameters(value, kPatchParameters);
  const Value body = value.object_at("requestBody");
  const Value content = body.object_at("content");
  const std::string type = meta("Patch");
  for (const std::string_view kind :
       {"application/apply-patch+yaml", "application/json-patch+json",
        "application/merge-patch+json", "application/strategic-merge-patch+json"}) {
    if (resource_.custom && kind.starts_with("application/strategic")) continue;
    content.object_at(kind).set("schema", reference_to(arena_, type));
  }
  body.set("required", Value::of(true));
  set_responses(value, subject.component, {"200", "201"});
  return value;
}

Value PathWriter::remove() const {
  const Value value = operation(id("delete", scope()), self(), "delete");
  set_parameters(value, kDeleteParameters);
  set_body(value, meta("DeleteOptions"), false);
  const Subject subject = self();
  set_responses(value, resource_.returns_object_on_delete ? subject.component : meta("Status"),
                {"200", "202"});
  return value;
}

Value PathWriter::remove_collection() const {
  const Value value = operation(id("delete", "Collection" + scope()), self(), "deletecollection");
  set_parameters(value, kDeleteCollectionParameters);
  set_body(value, meta("DeleteOptions"), false);
  set_responses(value, meta("Status"), {"200"});
  return value;
}

}  // namespace

std::string component_name(const Resource& resource) {
  if (!resource.custom) return resource.schema->type_name;
  return fmt::format("{}.{}.{}", reversed(resource.gvk.group), resource.gvk.version,
                     resource.gvk.kind);
}

std::string list_component_name(const Resource& resource) {
  const std::string name = component_name(resource);
  return name.substr(0, name.size() - resource.gvk.kind.size()) + resource.list_kind;
}

void add_resource_paths(const Registry& registry, const Resource& resource, Value paths,
                        const std::function<void(const Schema&)>& refer) {
  PathWriter(registry, resource, paths, refer).add();
}

}  // namespace muster::api
