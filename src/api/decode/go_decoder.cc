#include "api/decode/go_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "json/parse.h"

namespace muster::api {
namespace {

using json::Kind;
using json::Member;
using json::Value;

// io.k8s.api.core.v1.PodSpec is the struct PodSpec of the package v1.
std::string_view last_parts(std::string_view dotted, int count) {
  std::size_t at = dotted.size();
  while (count-- > 0 && at != std::string_view::npos && at > 0) at = dotted.rfind('.', at - 1);
  return at == std::string_view::npos ? dotted : dotted.substr(at + 1);
}

std::string go_type(const Schema& schema) {
  switch (schema.shape) {
    case Shape::kStruct:
      return std::string(last_parts(schema.type_name, 2));
    case Shape::kMap:
      if (schema.elem->shape == Shape::kQuantity) return "v1.ResourceList";
      return "map[string]" + go_type(*schema.elem);
    case Shape::kList:
      return "[]" + go_type(*schema.elem);
    case Shape::kString:
      return schema.go_type.empty() ? "string" : schema.go_type;
    case Shape::kInteger:
      return schema.format;
    case Shape::kNumber:
      return "float64";
    case Shape::kBoolean:
      return "bool";
    case Shape::kBytes:
      return "[]uint8";
    default:
      return std::string(last_parts(schema.type_name, 2));
  }
}

bool is_sorted_by_key(std::span<const Member> members) {
  return std::ranges::is_sorted(members, {}, &Member::key);
}

// What Go's omitempty leaves out.
bool is_empty(Value value) {
  switch (value.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return !value.as_bool();
    case Kind::kInt:
      return value.as_int() == 0;
    case Kind::kUint:
      return value.as_uint() == 0;
    case Kind::kDouble:
      return value.as_double() == 0;
    case Kind::kString:
      return value.as_string().empty();
    case Kind::kArray:
    case Kind::kObject:
      return value.empty();
  }
  return false;
}

// Clients write fields mostly in schema order: look where the last one was found, then search.
int position(const Schema& type, std::string_view name, std::size_t expected) {
  if (expected < type.fields.size() && type.fields[expected].name == name) {
    return static_cast<int>(expected);
  }
  return type.field_position(name);
}

}  // namespace

Result<Value> GoDecoder::decode(Value in, const Schema& schema) {
  root_ = &schema;
  const Value out = value(in, schema);
  if (fault_) return fail(Code::kBadRequest, *std::move(fault_));
  return out;
}

Value GoDecoder::value(Value in, const Schema& schema) {
  if (path_.size() > json::kMaxDepth) return fault("exceeded max depth");
  switch (schema.shape) {
    case Shape::kStruct:
      return in.is_object() ? structure(in, schema) : type_fault(in, go_type(schema));
    case Shape::kMap:
      return in.is_object() ? map(in, schema) : type_fault(in, go_type(schema));
    case Shape::kList:
      return in.is_array() ? list(in, schema) : type_fault(in, go_type(schema));
    case Shape::kString:
      return string(in, schema);
    case Shape::kInteger:
      return integer(in, schema.format);
    case Shape::kNumber:
      return in.is_number() ? in : type_fault(in, "float64");
    case Shape::kBoolean:
      return in.is_bool() ? in : type_fault(in, "bool");
    case Shape::kBytes:
      return bytes(in);
    case Shape::kTime:
    case Shape::kMicroTime:
      return time(in, schema.shape);
    case Shape::kQuantity:
      return quantity(in);
    case Shape::kIntOrString:
      return int_or_string(in);
    case Shape::kFieldsV1:
      return in;
    case Shape::kAny:
      return any(in, schema);
  }
  return in;
}

Value GoDecoder::structure(Value in, const Schema& type) {
  const std::size_t first_slot = slots_.size();
  slots_.resize(first_slot + type.fields.size());
  const Schema* const outer = std::exchange(struct_, &type);
  std::size_t expected = 0;
  for (const Member& member : in.members()) {
    const int at = position(type, member.key, expected);
    if (at < 0) {
      report_unknown(member.key);
      continue;
    }
    expected = static_cast<std::size_t>(at) + 1;
    if (member.value.is_null()) continue;  // the same as absent
    const Field& field = type.fields[static_cast<std::size_t>(at)];
    path_.push_back({Step::Kind::kField, field.name});
    const Value decoded = value(member.value, *field.schema);
    path_.pop_back();
    slots_[first_slot + static_cast<std::size_t>(at)] = decoded;
  }
  struct_ = outer;
  const Value out = emit(type, first_slot);
  slots_.resize(first_slot);
  return out;
}

// The fields that Go's encoder would write, in its order. Most are absent, so that is asked first.
Value GoDecoder::emit(const Schema& type, std::size_t first_slot) {
  const std::size_t count = type.fields.size();
  const auto slots = std::span(slots_).subspan(first_slot, count);
  const auto present = std::ranges::count_if(slots, [](Value v) { return !v.is_null(); });
  const Value out = Value::object(arena_, static_cast<std::size_t>(present));
  for (std::size_t i = 0; i < count; ++i) {
    const Value value = slots_[first_slot + i];  // emitted() may have moved them
    const Field& field = type.fields[i];
    if (field.emit_always) {
      out.append(field.name, emitted(field, value));
    } else if (!value.is_null() && (field.pointer || !is_empty(value))) {
      out.append(field.name, value);
    }
  }
  return out;
}

// The value of a field that is written even when it is empty. Upstream's storage does not tell an
// empty list or map from none, so both come back as null.
Value GoDecoder::emitted(const Field& field, Value value) {
  const Shape shape = field.schema->shape;
  if (shape == Shape::kList || shape == Shape::kMap) return value.empty() ? Value() : value;
  if (!value.is_null() || field.pointer) return value;
  return zero(*field.schema);
}

Value GoDecoder::zero(const Schema& schema) {
  switch (schema.shape) {
    case Shape::kStruct: {
      const std::size_t first_slot = slots_.size();
      slots_.resize(first_slot + schema.fields.size());
      const Value out = emit(schema, first_slot);
      slots_.resize(first_slot);
      return out;
    }
    case Shape::kString:
    case Shape::kBytes:
      return Value::view("");
    case Shape::kInteger:
    case Shape::kNumber:
    case Shape::kIntOrString:
      return Value::of(0);
    case Shape::kBoolean:
      return Value::of(false);
    case Shape::kQuantity:
      return Value::view("0");
    default:
      return {};
  }
}

Value GoDecoder::element(Value in, const Schema& schema) {
  const Value out = in.is_null() ? Value() : value(in, schema);
  return out.is_null() ? zero(schema) : out;
}

// Go writes map keys in the order of their bytes.
Value GoDecoder::map(Value in, const Schema& schema) {
  const std::span<Member> members = in.members();
  for (Member& member : members) {
    if (schema.elem->shape == Shape::kString && member.value.is_string()) continue;
    path_.push_back({Step::Kind::kKey, member.key});
    member.value = element(member.value, *schema.elem);
    path_.pop_back();
  }
  if (!is_sorted_by_key(members)) in.sort_keys();
  return in;
}

Value GoDecoder::list(Value in, const Schema& schema) {
  std::size_t index = 0;
  for (Value& item : in.items()) {
    if (schema.elem->shape != Shape::kString || !item.is_string()) {
      path_.push_back({Step::Kind::kIndex, {}, index});
      item = element(item, *schema.elem);
      path_.pop_back();
    }
    ++index;
  }
  return in;
}

// The Go types behind such values decode themselves and do not report what they do not know.
Value GoDecoder::any(Value in, const Schema& schema) {
  if (schema.elem == nullptr) return in;
  ++lenient_;
  Value out = in;
  if (in.is_object()) {
    out = structure(in, *schema.elem);
  } else {
    for (Value& item : in.items()) {
      path_.push_back({Step::Kind::kIndex, {}});
      if (item.is_object()) item = structure(item, *schema.elem);
      path_.pop_back();
    }
  }
  --lenient_;
  return out;
}

Value GoDecoder::string(Value in, const Schema& schema) {
  return in.is_string() ? in : type_fault(in, go_type(schema));
}

Value GoDecoder::integer(Value in, std::string_view type) {
  if (!in.is_number()) return type_fault(in, type);
  if (!in.is_int()) return number_fault(in, type);
  using Int32 = std::numeric_limits<std::int32_t>;
  const bool fits = type != "int32" || (in.as_int() >= Int32::min() && in.as_int() <= Int32::max());
  return fits ? in : number_fault(in, type);
}

Value GoDecoder::int_or_string(Value in) { return in.is_string() ? in : integer(in, "int32"); }

void GoDecoder::report_unknown(std::string_view name) {
  if (lenient_ > 0 || report_.full()) return;
  std::string text(prefix_);
  for (const Step& step : path_) {
    if (text.size() > DecodeReport::kMaxPathBytes) return;
    if (step.kind == Step::Kind::kIndex) {
      text += fmt::format("[{}]", step.index);
    } else {
      if (!text.empty()) text += '.';
      text += step.name;
    }
  }
  if (!text.empty()) text += '.';
  report_.add_unknown(text.append(name));
}

}  // namespace muster::api
