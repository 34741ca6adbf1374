// The fast way from text to tree: simdjson finds the structure, one walk copies it into the arena.
// What simdjson refuses goes to the Go reader, which accepts what Go would or says why not.
#include "json/parse.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "json/go_reader.h"
#include "json/path.h"

namespace muster::json {
namespace {

namespace dom = simdjson::dom;

// A thread keeps its parser between documents up to this text size; a parser needs about 16 times
// that. Larger documents pay for their own allocation.
constexpr std::size_t kKeptText = 256 * 1024;

// simdjson counts the document as a level of its own, and does not count empty containers.
constexpr std::size_t kSimdjsonDepth = kMaxDepth + 1;

class Walk {
 public:
  Walk(Arena& arena, ParseReport* report) : arena_(arena), report_(report) {}

  // Nothing if the document is too deep after all.
  std::optional<Value> document(dom::element root) {
    const Value made = value(root, nullptr, 0);
    if (too_deep_) return std::nullopt;
    return made;
  }

 private:
  Value value(dom::element element, const PathFrame* path, int depth) {
    switch (element.type()) {
      case dom::element_type::ARRAY:
        return array(element.get_array().value_unsafe(), path, depth + 1);
      case dom::element_type::OBJECT:
        return object(element.get_object().value_unsafe(), path, depth + 1);
      case dom::element_type::INT64:
        return Value::of(element.get_int64().value_unsafe());
      case dom::element_type::UINT64:
        return Value::of(element.get_uint64().value_unsafe());
      case dom::element_type::DOUBLE:
        return Value::of(element.get_double().value_unsafe());
      case dom::element_type::STRING:
        return Value::string(arena_, element.get_string().value_unsafe());
      case dom::element_type::BOOL:
        return Value::of(element.get_bool().value_unsafe());
      case dom::element_type::NULL_VALUE:
        break;
    }
    return Value();
  }

  Value array(dom::array array, const PathFrame* path, int depth) {
    too_deep_ |= depth > kMaxDepth;
    const Value made = Value::array(arena_, array.size());
    PathFrame frame{.parent = path, .is_item = true};
    for (const dom::element item : array) {
      made.push_back(value(item, &frame, depth));
      ++frame.index;
    }
    return made;
  }

  Value object(dom::object object, const PathFrame* path, int depth) {
    too_deep_ |= depth > kMaxDepth;
    const Value made = Value::object(arena_, object.size());
    PathFrame frame{.parent = path};
    std::uint64_t seen = 0;  // one bit per key met: most objects never need a lookup
    for (const auto [key, element] : object) {
      frame.key = key;
      const Value below = value(element, &frame, depth);
      const std::uint64_t bit = bit_of(key);
      Value* const earlier = (seen & bit) != 0 ? made.find(key) : nullptr;
      seen |= bit;
      if (earlier) {
        *earlier = below;
        if (report_ && report_->duplicates.size() < kMaxReportedDuplicates)
          report_->duplicates.push_back(path_text(&frame));
      } else {
        made.append(arena_.copy(key), below);
      }
    }
    return made;
  }

  static std::uint64_t bit_of(std::string_view key) {
    if (key.empty()) return 1;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(key[i]); };
    return std::uint64_t{1} << ((key.size() + byte(0) * 5U + byte(key.size() / 2) * 11U +
                                 byte(key.size() - 1) * 23U) &
                                63U);
  }

  Arena& arena_;
  ParseReport* report_;
  bool too_deep_ = false;
};

// simdjson reads up to 64 bytes past the text, which therefore is copied into a buffer that has
// them.
class PaddedParser {
 public:
  simdjson::simdjson_result<dom::element> parse(std::string_view text) {
    if (capacity_ < text.size() && !grow(text.size())) return simdjson::MEMALLOC;
    std::memcpy(buffer_.get(), text.data(), text.size());
    std::memset(buffer_.get() + text.size(), ' ', simdjson::SIMDJSON_PADDING);
    return parser_.parse(buffer_.get(), text.size(), false);
  }

  void release_large() {
    if (capacity_ <= kKeptText) return;
    parser_ = dom::parser();
    buffer_.reset();
    capacity_ = 0;
  }

 private:
  bool grow(std::size_t size) {
    const std::size_t capacity = std::max(size, std::min(size * 2, kKeptText));
    if (parser_.allocate(capacity, kSimdjsonDepth) != simdjson::SUCCESS) return false;
    buffer_ = std::make_unique_for_overwrite<char[]>(capacity + simdjson::SIMDJSON_PADDING);
    capacity_ = capacity;
    return true;
  }

  dom::parser parser_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
};

bool is_too_deep(dom::element element, int depth) {
  if (element.is_array()) {
    if (depth == kMaxDepth) return true;
    const dom::array items = element.get_array().value_unsafe();
    for (const dom::element item : items)
      if (is_too_deep(item, depth + 1)) return true;
  } else if (element.is_object()) {
    if (depth == kMaxDepth) return true;
    const dom::object members = element.get_object().value_unsafe();
    for (const auto [key, below] : members)
      if (is_too_deep(below, depth + 1)) return true;
  }
  return false;
}

PaddedParser& parser_of_this_thread() {
  static thread_local PaddedParser parser;
  return parser;
}

}  // namespace

Result<Value> parse(Arena& arena, std::string_view text, ParseReport* report) {
  PaddedParser& parser = parser_of_this_thread();
  std::optional<Value> made;
  dom::element root;
  if (!text.empty() && parser.parse(text).get(root) == simdjson::SUCCESS)
    made = Walk(arena, report).document(root);
  parser.release_large();
  if (made) return *made;
  return parse_like_go(arena, text, report);
}

bool is_json(std::string_view text) {
  PaddedParser& parser = parser_of_this_thread();
  dom::element root;
  const bool sound =
      !text.empty() && parser.parse(text).get(root) == simdjson::SUCCESS && !is_too_deep(root, 0);
  parser.release_large();
  if (sound) return true;
  Arena arena;
  return parse_like_go(arena, text, nullptr).has_value();
}

}  // namespace muster::json
