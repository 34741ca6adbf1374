// The scalars of GoDecoder that have a canonical form, and the words of its faults.
#include <fmt/format.h>

#include "api/decode/go_decoder.h"
#include "api/decode/go_time.h"
#include "api/values/quantity.h"
#include "base/base64.h"
#include "json/write.h"

namespace muster::api {
namespace {

using json::Value;

// Go's zero time, which is written as null.
constexpr std::string_view kZeroTime = "0001-01-01T00:00:00Z";
constexpr std::string_view kZeroMicroTime = "0001-01-01T00:00:00.000000Z";

}  // namespace

Value GoDecoder::bytes(Value in) {
  if (!in.is_string()) return type_fault(in, "[]uint8");
  const auto decoded = decode_base64(in.as_string());
  if (!decoded) return fault(fmt::format("illegal base64 data at input byte {}", decoded.error()));
  const std::string canonical = encode_base64(*decoded);
  return canonical == in.as_string() ? in : Value::string(arena_, canonical);
}

Value GoDecoder::time(Value in, Shape shape) {
  if (!in.is_string()) return type_fault(in, "string");
  const bool micros = shape == Shape::kMicroTime;
  const std::string_view text = in.as_string();
  const auto time = parse_go_time(text, micros ? TimeLayout::kMicros : TimeLayout::kSeconds);
  if (!time) return fault(time.error());
  const std::string_view zero = micros ? kZeroMicroTime : kZeroTime;
  if (text == zero) return {};
  if (text.size() == zero.size() && text.ends_with('Z')) return in;  // as we would write it
  return Value::string(arena_, micros ? format_micro_time(*time) : format_time(*time));
}

Value GoDecoder::quantity(Value in) {
  const Result<Quantity> parsed = Quantity::read(in);
  if (!parsed) return fault(parsed.error().message);
  const std::string canonical = parsed->text();
  if (in.is_string() && in.as_string() == canonical) return in;
  return Value::string(arena_, canonical);
}

Value GoDecoder::fault(std::string text) {
  if (!fault_) fault_ = std::move(text);
  return {};
}

Value GoDecoder::type_fault(Value in, std::string_view type) {
  if (fault_) return {};
  static constexpr std::string_view kWords[] = {"null",   "bool",   "number", "number",
                                                "number", "string", "array",  "object"};
  return fault(unmarshal_fault(kWords[static_cast<std::size_t>(in.kind())], type));
}

// A number that the type cannot hold.
Value GoDecoder::number_fault(Value in, std::string_view type) {
  if (fault_) return {};
  return fault(unmarshal_fault("number " + json::write(in), type));
}

// Go names the innermost struct and, after it, all fields on the way from the root.
std::string GoDecoder::unmarshal_fault(std::string_view what, std::string_view type) const {
  if (struct_ == nullptr) {
    return fmt::format("json: cannot unmarshal {} into Go value of type {}", what, type);
  }
  std::string_view struct_name = struct_->type_name;
  struct_name.remove_prefix(struct_name.rfind('.') + 1);
  return fmt::format("json: cannot unmarshal {} into Go struct field {}{} of type {}", what,
                     struct_name, go_path(), type);
}

// The fields only, without keys and indexes, but with the embedded structs that JSON does not show.
std::string GoDecoder::go_path() const {
  std::string text;
  const Schema* place = root_;
  for (const Step& step : path_) {
    if (place->shape == Shape::kAny && step.kind == Step::Kind::kField) place = place->elem;
    if (step.kind != Step::Kind::kField) {
      if (place->shape != Shape::kAny) place = place->elem;
      continue;
    }
    const Field& field = *place->field(step.name);
    for (const Inlined& inlined : place->inlined) {
      if (inlined.name == field.proto.via) text.append(".").append(inlined.struct_name);
    }
    text.append(".").append(field.name);
    place = field.schema;
  }
  return text;
}

}  // namespace muster::api
