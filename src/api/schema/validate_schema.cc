// The schema of a custom resource against an object, with the messages of upstream's OpenAPI
// validation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "api/decode/decode.h"
#include "api/decode/go_time.h"
#include "api/schema/path_scope.h"
#include "json/write.h"

namespace muster::api {
namespace {

using json::Kind;
using json::Member;
using json::Value;

// An object that is wrong in more places than this is wrong enough.
constexpr std::size_t kMaxFaults = 100;

constexpr std::string_view kRulesNotChecked =
    "some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation";

bool is_whole(Value value) {
  return value.kind() != Kind::kDouble || value.as_double() == std::trunc(value.as_double());
}

std::string_view json_type(Value value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "boolean";
    case Kind::kInt:
    case Kind::kUint:
      return "integer";
    case Kind::kDouble:
      return "number";
    case Kind::kString:
      return "string";
    case Kind::kArray:
      return "array";
    case Kind::kObject:
      return "object";
  }
  return "";
}

// The format that upstream infers from the Go type of a value.
std::string_view inferred_format(Value value) {
  if (!value.is_number()) return "";
  return value.kind() == Kind::kDouble ? "float64" : "int64";
}

std::string_view declared_type(const Schema& schema) {
  switch (schema.shape) {
    case Shape::kStruct:
    case Shape::kMap:
      return "object";
    case Shape::kList:
      return "array";
    case Shape::kInteger:
      return "integer";
    case Shape::kNumber:
      return "number";
    case Shape::kBoolean:
      return "boolean";
    case Shape::kIntOrString:
      return "integer,string";
    case Shape::kFieldsV1:
    case Shape::kAny:
      return "";
    default:
      return "string";
  }
}

bool is_of_type(Value value, std::string_view type) {
  if (type == "integer,string") return value.is_string() || is_of_type(value, "integer");
  if (type == "integer") return value.is_number() && is_whole(value);
  if (type == "number") return value.is_number();
  return json_type(value) == type;
}

bool fits_format(Value value, std::string_view format) {
  if (format != "int32") return value.kind() == Kind::kInt || is_whole(value);
  const double number = value.as_double();
  return is_whole(value) && number >= std::numeric_limits<std::int32_t>::min() &&
         number <= std::numeric_limits<std::int32_t>::max();
}

class Validator {
 public:
  explicit Validator(FieldErrors& errors) : errors_(errors) {}

  // Everything but the keys of lists, which upstream looks at afterwards.
  void check(Value value, const Schema& schema) {
    if (full()) return;
    if (value.is_null()) {
      if (!schema.nullable) type_fault(schema, value);
      return;
    }
    check_type(value, schema);
    if (value.is_string()) check_string(value, schema);
    if (value.is_number()) check_number(value, schema);
    if (!schema.enum_values.empty()) check_enum(value, schema);
    if (value.is_array() && schema.shape == Shape::kList) check_list(value, schema);
    if (value.is_object() && schema.shape == Shape::kMap) check_map(value, schema);
    if (value.is_object() && schema.shape == Shape::kStruct) check_struct(value, schema);
  }

  // Items of sets and of lists with keys are unique.
  void check_list_keys(Value value, const Schema& schema) {
    if (full()) return;
    if (schema.shape == Shape::kList) {
      if (schema.has_list_type && schema.list_type != ListType::kAtomic)
        check_unique(value, schema);
      std::size_t index = 0;
      for (const Value item : value.items()) {
        const PathScope scope(path_, index++);
        check_list_keys(item, *schema.elem);
      }
      return;
    }
    for (const Member& member : value.members()) {
      const Schema* const below = schema_below(schema, member.key);
      if (below == nullptr) continue;
      const PathScope scope(path_, member.key);
      check_list_keys(member.value, *below);
    }
  }

 private:
  bool full() const { return errors_.causes().size() >= kMaxFaults; }
  Path path() const { return Path(path_); }

  static const Schema* schema_below(const Schema& schema, std::string_view key) {
    if (schema.shape == Shape::kMap) return schema.elem;
    const Field* const field = schema.field(key);
    return field == nullptr ? nullptr : field->schema;
  }

  void must_be(std::string_view type, std::string_view found) {
    errors_.type_invalid(
        path(), Value::view(found),
        fmt::format("{} in body must be of type {}: {}", path_, type, quote(found)));
  }

  void type_fault(const Schema& schema, Value value) {
    const std::string_view type = declared_type(schema);
    if (!type.empty()) must_be(type, json_type(value));
  }

  void check_type(Value value, const Schema& schema) {
    const std::string_view type = declared_type(schema);
    if (type.empty() || is_of_type(value, type)) return;
    // Of formatted scalars upstream compares formats, unless a text or a list is given.
    if (!schema.format.empty() && !value.is_string() && !value.is_array()) {
      return must_be(schema.format, inferred_format(value));
    }
    type_fault(schema, value);
    if (schema.shape == Shape::kIntOrString) check_alternatives(value, schema);
  }

  // The anyOf that stands beside x-kubernetes-int-or-string: upstream tells of the first
  // alternative.
  void check_alternatives(Value value, const Schema& schema) {
    const Value alternatives = schema.validation.get("anyOf");
    if (alternatives.empty()) return;
    errors_.invalid(Path(), std::string_view(),
                    fmt::format("{} must validate at least one schema (anyOf)", quote(path_)));
    must_be(alternatives.item(0).get("type").as_string(), json_type(value));
    if (value.is_number()) number_out_of_format("");
  }

  void number_out_of_format(std::string_view format) {
    errors_.invalid(
        Path(), std::string_view(),
        format.empty()
            ? fmt::format("Checked value must be of type integer (default format) in {}", path_)
            : fmt::format("Checked value must be of type integer with format {} in {}", format,
                          path_));
  }

  // One fault at a time: the first of length, pattern and format.
  void check_string(Value value, const Schema& schema) {
    const std::string_view text = value.as_string();
    const Limits& limits = schema.limits;
    const auto length = std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    if (limits.max_length && length > *limits.max_length) {
      errors_.too_long(path(), static_cast<int>(*limits.max_length));
    } else if (limits.min_length && length < *limits.min_length) {
      errors_.invalid(
          path(), text,
          fmt::format("{} in body should be at least {} chars long", path_, *limits.min_length));
    } else if (limits.compiled != nullptr && !limits.compiled->found_in(text)) {
      errors_.invalid(path(), text,
                      fmt::format("{} in body should match '{}'", path_, limits.pattern));
    }
    if (schema.format == "date-time" && !parse_go_time(text, TimeLayout::kSeconds)) {
      must_be("date-time", text);
    }
  }

  void check_number(Value value, const Schema& schema) {
    const Limits& limits = schema.limits;
    if (schema.shape == Shape::kInteger && !fits_format(value, schema.format)) {
      number_out_of_format(schema.format);
    }
    if (limits.maximum && value.as_double() > *limits.maximum) {
      errors_.invalid(
          path(), value,
          fmt::format("{} in body should be less than or equal to {}", path_, *limits.maximum));
    }
    if (limits.minimum && value.as_double() < *limits.minimum) {
      errors_.invalid(
          path(), value,
          fmt::format("{} in body should be greater than or equal to {}", path_, *limits.minimum));
    }
  }

  void check_enum(Value value, const Schema& schema) {
    if (value.is_string() &&
        std::ranges::find(schema.enum_values, value.as_string()) != schema.enum_values.end()) {
      return;
    }
    std::string supported;
    for (const std::string& each : schema.enum_values) {
      supported += (supported.empty() ? "" : ", ") + quote(each);
    }
    errors_.add(
        "FieldValueNotSupported", path(),
        fmt::format("Unsupported value: {}: supported values: {}", quote(value), supported));
  }

  void check_list(Value list, const Schema& schema) {
    const auto size = static_cast<std::int64_t>(list.size());
    const Limits& limits = schema.limits;
    if (limits.max_items && size > *limits.max_items) {
      errors_.too_many(path(), list.size(), static_cast<int>(*limits.max_items));
    }
    if (limits.min_items && size < *limits.min_items) {
      errors_.invalid(
          path(), Value::of(size),
          fmt::format("{} in body should have at least {} items", path_, *limits.min_items));
    }
    std::size_t index = 0;
    for (const Value item : list.items()) {
      const PathScope scope(path_, index++);
      check(item, *schema.elem);
    }
  }

  void check_size(Value object, const Schema& schema) {
    const auto size = static_cast<std::int64_t>(object.size());
    const Limits& limits = schema.limits;
    if (limits.max_properties && size > *limits.max_properties) {
      errors_.too_many(path(), object.size(), static_cast<int>(*limits.max_properties));
    }
    if (limits.min_properties && size < *limits.min_properties) {
      errors_.invalid(path(), Value::of(size),
                      fmt::format("{} in body should have at least {} properties", path_,
                                  *limits.min_properties));
    }
  }

  void check_map(Value map, const Schema& schema) {
    check_size(map, schema);
    for (const Member& member : map.members()) {
      const PathScope scope(path_, member.key);
      check(member.value, *schema.elem);
    }
  }

  void check_struct(Value object, const Schema& schema) {
    check_size(object, schema);
    for (const Field& field : schema.fields) {
      if (field.required && !object.has(field.name)) errors_.required(path().child(field.name));
    }
    const bool is_root = path_.empty();
    for (const Member& member : object.members()) {
      const Field* const field = schema.field(member.key);
      // The metadata of the object itself is typed and has been decoded.
      if (field == nullptr || (is_root && field->name == "metadata")) continue;
      const PathScope scope(path_, member.key);
      check(member.value, *field->schema);
    }
  }

  void check_unique(Value list, const Schema& schema) {
    json::Arena arena;
    std::unordered_set<std::string> seen;
    std::size_t index = 0;
    for (const Value item : list.items()) {
      const PathScope scope(path_, index++);
      const Value identity =
          schema.list_type == ListType::kSet ? item : keys_of(arena, item, schema);
      if (!seen.insert(json::write(identity)).second) errors_.duplicate(path(), identity);
    }
  }

  static Value keys_of(json::Arena& arena, Value item, const Schema& schema) {
    const Value keys = Value::object(arena);
    for (const std::string& key : schema.list_keys) {
      if (const Value* const value = item.find(key)) keys.set(key, *value);
    }
    keys.sort_keys();
    return keys;
  }

  FieldErrors& errors_;
  std::string path_;
};

// Of a custom resource, whose schema is a tree.
bool has_rules(const Schema& schema) {
  if (!schema.rules.empty()) return true;
  if (schema.elem != nullptr && has_rules(*schema.elem)) return true;
  return std::ranges::any_of(schema.fields, [](const Field& f) { return has_rules(*f.schema); });
}

bool keeps_from_rules(const Cause& cause) {
  static constexpr std::string_view kBlocking[] = {"FieldValueRequired", "FieldValueNotSupported",
                                                   "FieldValueTooLong", "FieldValueTooMany",
                                                   "FieldValueTypeInvalid"};
  return std::ranges::find(kBlocking, cause.reason) != std::end(kBlocking);
}

}  // namespace

bool validate_schema(Value object, const Schema& schema, FieldErrors& errors) {
  FieldErrors found;
  Validator validator(found);
  validator.check(object, schema);
  validator.check_list_keys(object, schema);
  const bool blocked = std::ranges::any_of(found.causes(), keeps_from_rules);
  if (blocked && has_rules(schema)) found.invalid(Path(), Value(), kRulesNotChecked);
  errors.append(std::move(found));
  return !blocked;
}

}  // namespace muster::api
