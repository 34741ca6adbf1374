// The protobuf form of OpenAPI v2. What becomes of a document is said by tables, one per message,
// so that the code below them knows nothing of OpenAPI.
#include <span>

#include "api/decode/wire_writer.h"
#include "api/openapi/openapi_v2.h"
#include "json/yaml.h"

namespace muster::api {
namespace {

using json::Value;

enum class Form : std::uint8_t {
  kText,        // left out if empty
  kFlag,        // left out if false
  kCount,       // an integer
  kNumber,      // a double
  kMessage,     // one message
  kEach,        // one message for each item of a list, or the text itself
  kNamed,       // a message {1: key, 2: value} for each member of an object
  kAny,         // a message {2: YAML} for each item of a list
  kExtensions,  // likewise by name, of the members whose keys begin with "x-"
};

struct Message;

struct Slot {
  int number;
  std::string_view key;  // the member to write here; empty: the value itself
  Form form;
  const Message* message = nullptr;
  std::string_view in = {};  // only if the value's member `in` says so
};

struct Message {
  std::span<const Slot> slots;
};

extern const Message kSchema;

constexpr Slot kTypeSlots[] = {{1, "", Form::kText}};
constexpr Message kType{kTypeSlots};
constexpr Slot kSchemaItemSlots[] = {{1, "", Form::kMessage, &kSchema}};
constexpr Message kSchemaItem{kSchemaItemSlots};
constexpr Slot kNamedSchemasSlots[] = {{1, "", Form::kNamed, &kSchema}};
constexpr Message kNamedSchemas{kNamedSchemasSlots};

constexpr Slot kSchemaSlots[] = {
    {1, "$ref", Form::kText},
    {2, "format", Form::kText},
    {3, "title", Form::kText},
    {4, "description", Form::kText},
    {7, "maximum", Form::kNumber},
    {9, "minimum", Form::kNumber},
    {11, "maxLength", Form::kCount},
    {12, "minLength", Form::kCount},
    {13, "pattern", Form::kText},
    {14, "maxItems", Form::kCount},
    {15, "minItems", Form::kCount},
    {16, "uniqueItems", Form::kFlag},
    {17, "maxProperties", Form::kCount},
    {18, "minProperties", Form::kCount},
    {19, "required", Form::kEach},
    {20, "enum", Form::kAny},
    {21, "additionalProperties", Form::kMessage, &kSchemaItem},
    {22, "type", Form::kMessage, &kType},
    {23, "items", Form::kMessage, &kSchemaItem},
    {25, "properties", Form::kMessage, &kNamedSchemas},
    {31, "", Form::kExtensions},
};
constexpr Message kSchema{kSchemaSlots};

constexpr Slot kBodyParameterSlots[] = {
    {1, "description", Form::kText},
    {2, "name", Form::kText},
    {3, "in", Form::kText},
    {4, "required", Form::kFlag},
    {5, "schema", Form::kMessage, &kSchema},
};
constexpr Message kBodyParameter{kBodyParameterSlots};
constexpr Slot kQueryParameterSlots[] = {
    {1, "required", Form::kFlag}, {2, "in", Form::kText},   {3, "description", Form::kText},
    {4, "name", Form::kText},     {6, "type", Form::kText}, {20, "uniqueItems", Form::kFlag},
};
constexpr Message kQueryParameter{kQueryParameterSlots};
constexpr Slot kPathParameterSlots[] = {
    {1, "required", Form::kFlag}, {2, "in", Form::kText},   {3, "description", Form::kText},
    {4, "name", Form::kText},     {5, "type", Form::kText}, {19, "uniqueItems", Form::kFlag},
};
constexpr Message kPathParameter{kPathParameterSlots};
constexpr Slot kNonBodySlots[] = {{3, "", Form::kMessage, &kQueryParameter, "query"},
                                  {4, "", Form::kMessage, &kPathParameter, "path"}};
constexpr Message kNonBody{kNonBodySlots};
constexpr Slot kParameterSlots[] = {{1, "", Form::kMessage, &kBodyParameter, "body"},
                                    {2, "", Form::kMessage, &kNonBody, "query"},
                                    {2, "", Form::kMessage, &kNonBody, "path"}};
constexpr Message kParameter{kParameterSlots};
constexpr Slot kParameterItemSlots[] = {{1, "", Form::kMessage, &kParameter}};
constexpr Message kParameterItem{kParameterItemSlots};

constexpr Slot kResponseSlots[] = {{1, "description", Form::kText},
                                   {2, "schema", Form::kMessage, &kSchemaItem}};
constexpr Message kResponse{kResponseSlots};
constexpr Slot kResponseItemSlots[] = {{1, "", Form::kMessage, &kResponse}};
constexpr Message kResponseItem{kResponseItemSlots};
constexpr Slot kResponsesSlots[] = {{1, "", Form::kNamed, &kResponseItem}};
constexpr Message kResponses{kResponsesSlots};

constexpr Slot kOperationSlots[] = {
    {1, "tags", Form::kEach},
    {3, "description", Form::kText},
    {5, "operationId", Form::kText},
    {6, "produces", Form::kEach},
    {7, "consumes", Form::kEach},
    {8, "parameters", Form::kEach, &kParameterItem},
    {9, "responses", Form::kMessage, &kResponses},
    {10, "schemes", Form::kEach},
    {13, "", Form::kExtensions},
};
constexpr Message kOperation{kOperationSlots};
constexpr Slot kPathItemSlots[] = {
    {2, "get", Form::kMessage, &kOperation},   {3, "put", Form::kMessage, &kOperation},
    {4, "post", Form::kMessage, &kOperation},  {5, "delete", Form::kMessage, &kOperation},
    {8, "patch", Form::kMessage, &kOperation}, {9, "parameters", Form::kEach, &kParameterItem},
};
constexpr Message kPathItem{kPathItemSlots};
constexpr Slot kPathsSlots[] = {{2, "", Form::kNamed, &kPathItem}};
constexpr Message kPaths{kPathsSlots};

constexpr Slot kTextsSlots[] = {{1, "", Form::kEach}};
constexpr Message kTexts{kTextsSlots};
constexpr Slot kRequirementSlots[] = {{1, "", Form::kNamed, &kTexts}};
constexpr Message kRequirement{kRequirementSlots};
constexpr Slot kApiKeySlots[] = {{1, "type", Form::kText},
                                 {2, "name", Form::kText},
                                 {3, "in", Form::kText},
                                 {4, "description", Form::kText}};
constexpr Message kApiKey{kApiKeySlots};
constexpr Slot kSchemeSlots[] = {{2, "", Form::kMessage, &kApiKey}};
constexpr Message kScheme{kSchemeSlots};
constexpr Slot kSchemesSlots[] = {{1, "", Form::kNamed, &kScheme}};
constexpr Message kSchemes{kSchemesSlots};

constexpr Slot kInfoSlots[] = {{1, "title", Form::kText}, {2, "version", Form::kText}};
constexpr Message kInfo{kInfoSlots};
constexpr Slot kDocumentSlots[] = {
    {1, "swagger", Form::kText},
    {2, "info", Form::kMessage, &kInfo},
    {8, "paths", Form::kMessage, &kPaths},
    {9, "definitions", Form::kMessage, &kNamedSchemas},
    {12, "security", Form::kEach, &kRequirement},
    {13, "securityDefinitions", Form::kMessage, &kSchemes},
};
constexpr Message kDocument{kDocumentSlots};

std::string message_text(Value value, const Message& message);

std::string named_text(std::string_view name, std::string_view value) {
  WireWriter out;
  out.bytes_field(1, name);
  out.bytes_field(2, value);
  return out.text();
}

// A value of any type travels as YAML.
std::string any_text(Value value) {
  WireWriter out;
  out.bytes_field(2, json::write_yaml(value));
  return out.text();
}

void write_scalar(WireWriter& out, const Slot& slot, Value value) {
  if (slot.form == Form::kText && !value.as_string().empty())
    out.bytes_field(slot.number, value.as_string());
  if (slot.form == Form::kFlag && value.as_bool()) out.varint_field(slot.number, 1);
  if (slot.form == Form::kCount && value.as_int() != 0)
    out.varint_field(slot.number, static_cast<std::uint64_t>(value.as_int()));
  if (slot.form == Form::kNumber && value.as_double() != 0)
    out.double_field(slot.number, value.as_double());
}

void write_slot(WireWriter& out, const Slot& slot, Value value) {
  switch (slot.form) {
    case Form::kMessage:
      return out.bytes_field(slot.number, message_text(value, *slot.message));
    case Form::kEach:
      for (const Value item : value.items()) {
        out.bytes_field(slot.number, slot.message == nullptr ? std::string(item.as_string())
                                                             : message_text(item, *slot.message));
      }
      return;
    case Form::kNamed:
      for (const auto& [name, member] : value.members())
        out.bytes_field(slot.number, named_text(name, message_text(member, *slot.message)));
      return;
    case Form::kAny:
      for (const Value item : value.items()) out.bytes_field(slot.number, any_text(item));
      return;
    case Form::kExtensions:
      for (const auto& [name, member] : value.members()) {
        if (name.starts_with("x-"))
          out.bytes_field(slot.number, named_text(name, any_text(member)));
      }
      return;
    default:
      return write_scalar(out, slot, value);
  }
}

std::string message_text(Value value, const Message& message) {
  WireWriter out;
  for (const Slot& slot : message.slots) {
    const Value part = slot.key.empty() ? value : value.get(slot.key);
    const bool applies = slot.in.empty() || value.get("in").as_string() == slot.in;
    if (applies && !part.is_null()) write_slot(out, slot, part);
  }
  return out.text();
}

}  // namespace

std::string openapi_v2_protobuf(Value v2) { return message_text(v2, kDocument); }

}  // namespace muster::api
