#include "json/document.h"

#include "base/utf8.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::json {
namespace {

// The copy of a tree, with `text` and `number` for what has to be looked at.
template <class Text, class Number>
Value copied(Arena& arena, Value value, const Text& text, const Number& number) {
  switch (value.kind()) {
    case Kind::kString:
      return Value::view(text(value.as_string()));
    case Kind::kDouble:
      return number(value);
    case Kind::kArray: {
      const Value copy = Value::array(arena, value.size());
      for (const Value item : value.items()) copy.push_back(copied(arena, item, text, number));
      return copy;
    }
    case Kind::kObject: {
      const Value copy = Value::object(arena, value.size());
      for (const Member& member : value.members())
        copy.append(text(member.key), copied(arena, member.value, text, number));
      return copy;
    }
    default:
      return value;
  }
}

// As the writer puts it.
std::string repaired(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    if (length == 0) {
      append_utf8(out, 0xFFFD);
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

}  // namespace

DocumentPtr Document::of(Value tree) {
  auto document = std::make_shared<Document>();
  Arena& arena = document->arena_;
  const auto text = [&](std::string_view each) {
    return is_utf8(each) ? arena.copy(each) : arena.copy(repaired(each));
  };
  const auto number = [&](Value each) { return parse(arena, write(each)).value_or(each); };
  document->root_ = copied(arena, tree, text, number);
  return document;
}

Value changeable(Arena& arena, const DocumentPtr& document) {
  arena.keep(document);
  return copied(
      arena, document->root(), [](std::string_view text) { return text; },
      [](Value number) { return number; });
}

std::string body_text(const http::Request& request) {
  return request.document == nullptr ? request.body : write(request.document->root());
}

}  // namespace muster::json
