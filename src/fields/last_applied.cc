#include "fields/last_applied.h"

#include "fields/document_set.h"
#include "fields/validate.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::fields {
namespace {

using json::Value;

constexpr std::string_view kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::size_t kMaxAnnotations =
    256 * 1024;  // upstream's limit for all keys and values of an object

Value annotations_of(Value object) { return object.get({"metadata", "annotations"}); }

Value sorted_clone(json::Arena& arena, Value value) {
  if (value.is_array()) {
    const Value copy = Value::array(arena, value.size());
    for (const Value item : value.items()) copy.push_back(sorted_clone(arena, item));
    return copy;
  }
  if (!value.is_object()) return value;
  const Value copy = Value::object(arena, value.size());
  for (const json::Member& member : value.members())
    copy.append(member.key, sorted_clone(arena, member.value));
  copy.sort_keys();
  return copy;
}

std::size_t size_of(Value annotations) {
  std::size_t size = 0;
  for (const json::Member& member : annotations.members())
    size += member.key.size() + member.value.as_string().size();
  return size;
}

}  // namespace

FieldSet applied_on_client(json::Arena& arena, const Endpoint& endpoint, Value live) {
  const std::string_view text = annotations_of(live).get(kAnnotation).as_string();
  if (text.empty()) return {};
  const Result<Value> document = json::parse(arena, text);
  if (!document || document->get("apiVersion").as_string() != endpoint.api_version) return {};
  if (!check_document(arena, endpoint.type.schema, *document, Duplicates::kRefused)) return {};
  const Result<Comparison> differences = compare_objects(arena, endpoint.type, live, *document);
  if (!differences) return {};
  const FieldSet applied = set_of_document(arena, endpoint.type.schema, *document);
  return subtract(subtract(applied, differences->changed()), differences->removed);
}

bool renew_last_applied(json::Arena& arena, Value object, Value document) {
  const Value annotations = annotations_of(object);
  const std::string_view before = annotations.get(kAnnotation).as_string();
  if (before.empty()) return false;
  const Value copy = sorted_clone(arena, document);
  if (const Value own = annotations_of(copy); own.is_object()) own.erase(kAnnotation);
  std::string text = json::write(copy);
  text += '\n';
  if (text == before) return false;
  annotations.set(kAnnotation, text);
  if (size_of(annotations) > kMaxAnnotations) annotations.erase(kAnnotation);
  return true;
}

}  // namespace muster::fields
