// Protobuf bodies of the built-in kinds, read by their schema. What the wire writes although it is
// empty is left out, so that the tree is like the one of a JSON body; decode() gives it the last
// form.
#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cmath>

#include "api/decode/decode.h"
#include "api/decode/wire_reader.h"
#include "base/base64.h"
#include "base/time.h"
#include "base/utf8.h"
#include "json/parse.h"

namespace muster::api {
namespace {

using json::Value;

constexpr std::string_view kMagic("k8s\0", 4);

// 0001-01-01 and 9999-12-31, the days that a time can be written for.
constexpr std::int64_t kMinSeconds = -62135596800;
constexpr std::int64_t kMaxSeconds = 253402300799;

std::unexpected<Error> malformed(std::string_view where) {
  return fail(Code::kBadRequest,
              fmt::format("proto: malformed {}", where.empty() ? "message" : where));
}

struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;
  std::string_view encoding;
};

class MessageReader {
 public:
  MessageReader(json::Arena& arena, const Registry& registry)
      : arena_(arena), registry_(registry) {}

  Result<Value> body(std::string_view bytes) {
    if (!bytes.starts_with(kMagic)) {
      return fail(
          Code::kBadRequest,
          "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
    }
    MUSTER_TRY(const Envelope envelope, read_envelope(bytes.substr(kMagic.size())));
    if (!envelope.encoding.empty()) {
      return fail(Code::kBadRequest,
                  fmt::format("unsupported content encoding {}", quote(envelope.encoding)));
    }
    const Schema* const type = registry_.type_of_kind(envelope.api_version, envelope.kind);
    if (type == nullptr || type->proto_message.empty()) {
      return fail(Code::kBadRequest, fmt::format("no kind \"{}\" is registered for version \"{}\"",
                                                 envelope.kind, envelope.api_version));
    }
    const Value object = Value::object(arena_, type->fields.size());
    object.append("kind", Value::string(arena_, envelope.kind));
    object.append("apiVersion", Value::string(arena_, envelope.api_version));
    MUSTER_CHECK(fields(object, *type, "", envelope.raw));
    return object;
  }

 private:
  static Result<Envelope> read_envelope(std::string_view bytes) {
    Envelope envelope;
    for (WireReader reader(bytes); !reader.at_end();) {
      const auto field = reader.next();
      if (!field) return malformed("envelope");
      if (field->number == 1) {
        for (WireReader meta(field->bytes); !meta.at_end();) {
          const auto part = meta.next();
          if (!part) return malformed("envelope");
          if (part->number == 1) envelope.api_version = part->bytes;
          if (part->number == 2) envelope.kind = part->bytes;
        }
      }
      if (field->number == 2) envelope.raw = field->bytes;
      if (field->number == 3) envelope.encoding = field->bytes;
    }
    return envelope;
  }

  // The fields of a message, or of a sub-message whose fields JSON has flat (`via`), into `object`.
  Status fields(Value object, const Schema& type, std::string_view via, std::string_view bytes) {
    std::size_t expected = 0;
    for (WireReader reader(bytes); !reader.at_end();) {
      const auto wire = reader.next();
      if (!wire) return malformed(type.proto_message);
      if (const std::string_view inlined = inlined_name(type, via, wire->number);
          !inlined.empty()) {
        if (wire->type != WireType::kBytes) return malformed(type.proto_message);
        MUSTER_CHECK(fields(object, type, inlined, wire->bytes));
      } else if (const Field* const field = find(type, via, wire->number, expected)) {
        MUSTER_CHECK(add(object, *field, *wire));
      }
      // Numbers that the schema does not know are skipped, as protobuf has it.
    }
    return {};
  }

  static std::string_view inlined_name(const Schema& type, std::string_view via, int number) {
    if (!via.empty()) return {};
    for (const Inlined& inlined : type.inlined) {
      if (inlined.number == number) return inlined.name;
    }
    return {};
  }

  // Fields come mostly in the order of the schema: the search starts where the last one was found.
  static const Field* find(const Schema& type, std::string_view via, int number,
                           std::size_t& expected) {
    const std::size_t count = type.fields.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = expected + i < count ? expected + i : expected + i - count;
      const ProtoField& proto = type.fields[at].proto;
      if (proto.number == number && proto.via == via) {
        expected = at;
        return &type.fields[at];
      }
    }
    return nullptr;
  }

  Status add(Value object, const Field& field, const WireField& wire) {
    const Schema& schema = *field.schema;
    if (schema.shape == Shape::kMap)
      return add_entry(member(object, field, Value::object(arena_)), field, wire);
    if (schema.shape == Shape::kList) {
      const Value list = member(object, field, Value::array(arena_));
      if (field.proto.wrapped) return add_items(list, *schema.elem, wire);
      MUSTER_TRY(const Value item, value(*schema.elem, wire));
      list.push_back(item);
      return {};
    }
    MUSTER_TRY(const Value decoded, value(schema, wire));
    if (is_written(field, decoded)) object.set(field.name, decoded);
    return {};
  }

  // Scalars are on the wire even when they are zero, but for those behind a pointer.
  static bool is_written(const Field& field, Value value) {
    if (value.is_null()) return false;
    if (field.pointer || value.is_object() || value.is_array()) return true;
    return field.schema->shape == Shape::kIntOrString || field.schema->shape == Shape::kQuantity ||
           (value.is_string() ? !value.as_string().empty()
                              : value.as_bool() || value.as_double() != 0);
  }

  Value member(Value object, const Field& field, Value empty) {
    if (const Value* const found = object.find(field.name)) return *found;
    object.append(field.name, empty);
    return empty;
  }

  // A list that is a message of its own, with the items as its field 1.
  Status add_items(Value list, const Schema& elem, const WireField& wire) {
    if (wire.type != WireType::kBytes) return malformed("list");
    for (WireReader reader(wire.bytes); !reader.at_end();) {
      const auto item = reader.next();
      if (!item) return malformed("list");
      if (item->number != 1) continue;
      MUSTER_TRY(const Value decoded, value(elem, *item));
      list.push_back(decoded);
    }
    return {};
  }

  Status add_entry(Value map, const Field& field, const WireField& wire) {
    if (wire.type != WireType::kBytes) return malformed("map");
    const Schema& elem = *field.schema->elem;
    std::string_view key;
    WireField found{.number = 2, .type = WireType::kBytes, .bytes = {}};
    for (WireReader reader(wire.bytes); !reader.at_end();) {
      const auto part = reader.next();
      if (!part) return malformed("map");
      if (part->number == 1) key = part->bytes;
      if (part->number == 2) found = *part;
    }
    Value decoded;
    if (field.proto.wrapped) {
      decoded = Value::array(arena_);
      MUSTER_CHECK(add_items(decoded, *elem.elem, found));
    } else {
      MUSTER_TRY(decoded, value(elem, found));
    }
    if (!is_utf8(key)) return malformed("map");
    map.set(key, decoded);
    return {};
  }

  Result<Value> value(const Schema& schema, const WireField& wire) {
    switch (schema.shape) {
      case Shape::kInteger:
        if (wire.type != WireType::kVarint) return malformed("integer");
        return schema.format == "int32"
                   ? Value::of(std::int64_t{static_cast<std::int32_t>(wire.value)})
                   : Value::of(static_cast<std::int64_t>(wire.value));
      case Shape::kBoolean:
        if (wire.type != WireType::kVarint) return malformed("bool");
        return Value::of(wire.value != 0);
      case Shape::kNumber:
        return number(wire);
      default:
        break;
    }
    if (wire.type != WireType::kBytes) return malformed(schema.proto_message);
    switch (schema.shape) {
      case Shape::kString:
        return string(wire.bytes);
      case Shape::kBytes:
        return Value::string(arena_, encode_base64(wire.bytes));
      case Shape::kTime:
      case Shape::kMicroTime:
        return time(wire.bytes, schema.shape);
      case Shape::kQuantity:
        return quantity(wire.bytes);
      case Shape::kIntOrString:
        return int_or_string(wire.bytes);
      default:
        return nested(schema, wire.bytes);
    }
  }

  Result<Value> nested(const Schema& schema, std::string_view bytes) {
    if (depth_ >= json::kMaxDepth) return fail(Code::kBadRequest, "exceeded max depth");
    ++depth_;
    Result<Value> out = schema.shape == Shape::kStruct ? structure(schema, bytes)
                        : schema.elem != nullptr       ? schema_or_other(schema, bytes)
                                                       : raw_json(bytes);
    --depth_;
    return out;
  }

  Result<Value> structure(const Schema& schema, std::string_view bytes) {
    const Value object = Value::object(arena_);
    MUSTER_CHECK(fields(object, schema, "", bytes));
    return object;
  }

  // Text must be UTF-8, because JSON is.
  Result<Value> string(std::string_view bytes) {
    if (!is_utf8(bytes))
      return fail(Code::kBadRequest, "proto: string field contains invalid UTF-8");
    return Value::string(arena_, bytes);
  }

  static Result<Value> number(const WireField& wire) {
    if (wire.type != WireType::kFixed64) return malformed("double");
    const auto number = std::bit_cast<double>(wire.value);
    if (!std::isfinite(number)) return fail(Code::kBadRequest, "proto: number is not finite");
    return Value::of(number);
  }

  // seconds=1, nanos=2; an empty message is no time.
  Result<Value> time(std::string_view bytes, Shape shape) {
    if (bytes.empty()) return Value();
    std::int64_t seconds = 0;
    std::int32_t nanos = 0;
    for (WireReader reader(bytes); !reader.at_end();) {
      const auto part = reader.next();
      if (!part || part->type != WireType::kVarint) return malformed("time");
      if (part->number == 1) seconds = static_cast<std::int64_t>(part->value);
      if (part->number == 2) nanos = static_cast<std::int32_t>(part->value);
    }
    if (seconds < kMinSeconds || seconds > kMaxSeconds || nanos < 0 || nanos > 999'999'999) {
      return fail(Code::kBadRequest, "proto: time out of range");
    }
    const Time time{std::chrono::seconds(seconds) + std::chrono::microseconds(nanos / 1000)};
    return Value::string(arena_,
                         shape == Shape::kMicroTime ? format_micro_time(time) : format_time(time));
  }

  // string=1
  Result<Value> quantity(std::string_view bytes) {
    std::string_view text = "0";
    for (WireReader reader(bytes); !reader.at_end();) {
      const auto part = reader.next();
      if (!part || part->type != WireType::kBytes) return malformed("quantity");
      if (part->number == 1) text = part->bytes;
    }
    return string(text);
  }

  // type=1 (1: string), intVal=2, strVal=3
  Result<Value> int_or_string(std::string_view bytes) {
    bool is_string = false;
    std::int32_t number = 0;
    std::string_view text;
    for (WireReader reader(bytes); !reader.at_end();) {
      const auto part = reader.next();
      if (!part) return malformed("IntOrString");
      if (part->number == 1) is_string = part->value == 1;
      if (part->number == 2) number = static_cast<std::int32_t>(part->value);
      if (part->number == 3) text = part->bytes;
    }
    if (is_string) return string(text);
    return Value::of(std::int64_t{number});
  }

  // FieldsV1, JSON, RawExtension: raw=1 holds JSON text, or (RawExtension) a body like ours.
  Result<Value> raw_json(std::string_view bytes) {
    std::string_view raw;
    for (WireReader reader(bytes); !reader.at_end();) {
      const auto part = reader.next();
      if (!part || part->type != WireType::kBytes) return malformed("raw value");
      if (part->number == 1) raw = part->bytes;
    }
    if (raw.empty()) return Value();
    return raw.starts_with(kMagic) ? body(raw) : json::parse(arena_, raw);
  }

  // JSONSchemaPropsOrBool (allows=1, schema=2), ...OrArray (schema=1, list=2), ...OrStringArray
  // (schema=1, strings=2).
  Result<Value> schema_or_other(const Schema& schema, std::string_view bytes) {
    const bool or_bool = schema.type_name.ends_with("OrBool");
    const bool or_strings = schema.type_name.ends_with("OrStringArray");
    Value found;
    for (WireReader reader(bytes); !reader.at_end();) {
      const auto part = reader.next();
      if (!part) return malformed(schema.proto_message);
      if (or_bool && part->number == 1) {
        if (found.is_null()) found = Value::of(part->value != 0);
      } else if (part->type != WireType::kBytes) {
        return malformed(schema.proto_message);
      } else if (or_bool || part->number == 1) {
        MUSTER_TRY(found, nested(*schema.elem, part->bytes));
      } else {
        if (!found.is_array()) found = Value::array(arena_);
        MUSTER_TRY(const Value item,
                   or_strings ? string(part->bytes) : nested(*schema.elem, part->bytes));
        found.push_back(item);
      }
    }
    return found;
  }

  json::Arena& arena_;
  const Registry& registry_;
  int depth_ = 0;
};

}  // namespace

Result<Value> decode_protobuf(json::Arena& arena, std::string_view body, const Registry& registry) {
  return MessageReader(arena, registry).body(body);
}

}  // namespace muster::api
