// The reading half of yaml.h: yaml-cpp finds the structure, we type the scalars and build the tree.
#include "json/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "base/utf8.h"
#include "json/go_text.h"
#include "json/parse.h"
#include "json/yaml_scalar.h"

namespace muster::json {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";
constexpr std::string_view kPlain = "?";  // yaml-cpp's tag for scalars without quotes

Position position_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

std::unexpected<Error> fail_at(std::string_view what, Position at) {
  return fail(Code::kBadRequest,
              fmt::format("yaml: {} at line {}, column {}", what, at.line, at.column));
}

// yaml-cpp turns the escapes \_ and \N into the bytes A0 and 85 instead of UTF-8.
std::string with_bytes_as_letters(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    if (length == 0) {
      append_utf8(out, static_cast<unsigned char>(text[0]));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

// Receives yaml-cpp's events of one document. The first fault is kept; what comes after it is
// ignored, because yaml-cpp could only be stopped by an exception.
class DocumentBuilder final : public YAML::EventHandler {
 public:
  DocumentBuilder(Arena& arena, YamlOptions options) : arena_(arena), options_(options) {}

  bool failed() const { return fault_.has_value(); }
  std::unexpected<Error> error() const { return fail_at(*fault_, fault_at_); }
  const YAML::Mark& start() const { return start_; }
  YamlDocument take() { return std::move(document_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    start_ = mark;
    document_.start = position_of(mark);
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    begin_node(mark);
    end_node(Value(), mark, anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (failed()) return;
    const bool is_key = awaits_key();
    begin_node(mark);
    if (is_key && tag == kPlain && text == "<<") {
      stack_.back().merging = true;
      return;
    }
    end_node(scalar(mark, tag, text), mark, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (failed()) return;
    begin_node(mark);
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) return fault("anchor value contains itself", mark);
    end_node(expand(known->second, mark, stack_.size()), mark, YAML::NullAnchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    push(Value::array(arena_), mark, anchor);
  }
  void OnSequenceEnd() override { pop(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    push(Value::object(arena_), mark, anchor);
  }
  void OnMapEnd() override { pop(); }

 private:
  // A container that is being read.
  struct Frame {
    Value container;
    YAML::Mark mark;
    YAML::anchor_t anchor;
    std::size_t path_length;         // of the container's own path
    std::optional<std::string> key;  // read, and waiting for its value
    bool merging = false;            // likewise, the key being "<<"
  };

  void fault(std::string what, const YAML::Mark& mark) {
    if (failed()) return;
    fault_ = std::move(what);
    fault_at_ = position_of(mark);
  }

  bool awaits_key() const {
    return !stack_.empty() && stack_.back().container.is_object() && !stack_.back().key &&
           !stack_.back().merging;
  }

  void begin_node(const YAML::Mark& mark) {
    if (failed() || awaits_key()) return;
    if (!stack_.empty() && stack_.back().merging) return;
    if (!stack_.empty() && stack_.back().container.is_array())
      fmt::format_to(std::back_inserter(path_), "[{}]", stack_.back().container.size());
    record(path_, mark);
  }

  void end_node(Value value, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (failed()) return;
    if (anchor != YAML::NullAnchor) anchors_[anchor] = value;
    if (stack_.empty()) {
      document_.root = value;
      return;
    }
    Frame& frame = stack_.back();
    if (frame.container.is_array()) {
      frame.container.push_back(value);
    } else if (frame.merging) {
      frame.merging = false;
      merge(frame.container, value, mark);
    } else if (!frame.key) {
      return take_key(frame, value, mark);
    } else {
      frame.container.set(*frame.key, value);
      frame.key.reset();
    }
    path_.resize(frame.path_length);
  }

  void take_key(Frame& frame, Value value, const YAML::Mark& mark) {
    if (value.is_null() || value.is_array() || value.is_object())
      return fault(fmt::format("unsupported map key of type: {}", go_type(value)), mark);
    frame.key = go_text(value);
    const bool is_set = frame.container.has(*frame.key);
    if (is_set && document_.duplicates.size() < kMaxReportedDuplicates)
      document_.duplicates.push_back(
          fmt::format("line {}: key \"{}\" already set in map", mark.line + 1, *frame.key));
    if (!path_.empty()) path_ += '.';
    path_ += *frame.key;
    // A key of a merge has no position of its own.
    if (is_set && document_.repeated.size() < kMaxReportedDuplicates &&
        document_.positions.contains(path_ + '#')) {
      document_.repeated.push_back({*frame.key, position_of(mark)});
    }
    record(path_ + '#', mark);
  }

  void push(Value container, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (failed()) return;
    if (stack_.size() >= kMaxDepth) return fault("exceeded max depth", mark);
    begin_node(mark);
    stack_.push_back({container, mark, anchor, path_.size(), std::nullopt});
  }

  void pop() {
    if (failed()) return;
    const Frame frame = std::move(stack_.back());
    stack_.pop_back();
    path_.resize(frame.path_length);
    end_node(frame.container, frame.mark, frame.anchor);
  }

  void record(const std::string& path, const YAML::Mark& mark) {
    if (!options_.positions || (position_text_ += path.size()) > kMaxYamlPositionText) return;
    document_.positions[path] = position_of(mark);
  }

  Value scalar(const YAML::Mark& mark, std::string_view tag, std::string_view text) {
    if (tag == kPlain) {
      if (is_unrepresentable_number(text))
        fault(fmt::format("json: unsupported value: {}", text), mark);
      const auto resolved = resolve_plain_scalar(text);
      return resolved ? *resolved : Value::string(arena_, text);
    }
    if (!is_utf8(text)) return Value::string(arena_, with_bytes_as_letters(text));
    if (tag.starts_with(kTagPrefix)) return tagged(mark, tag.substr(kTagPrefix.size()), text);
    return Value::string(arena_, text);
  }

  Value tagged(const YAML::Mark& mark, std::string_view type, std::string_view text) {
    if (type == "binary") fault("!!binary is not supported", mark);
    const bool typed = type == "int" || type == "float" || type == "bool" || type == "null";
    if (!typed) return Value::string(arena_, text);
    const Value value = resolve_plain_scalar(text).value_or(Value::view("str"));
    const bool fits = (type == "int" && (value.is_int() || value.kind() == Kind::kUint)) ||
                      (type == "float" && value.is_number()) ||
                      (type == "bool" && value.is_bool()) || (type == "null" && value.is_null());
    if (!fits) fault(fmt::format("cannot decode !!str `{}` as a !!{}", text, type), mark);
    return value;
  }

  // In order: a merge overrides what stands before it. In a list of maps the first has precedence.
  void merge(Value target, Value source, const YAML::Mark& mark) {
    const auto merge_map = [&](Value map) {
      if (!map.is_object())
        return fault("map merge requires map or sequence of maps as the value", mark);
      for (const Member& member : map.members()) target.set(member.key, member.value);
    };
    if (!source.is_array()) return merge_map(source);
    for (std::size_t i = source.size(); i > 0; --i) merge_map(source.item(i - 1));
  }

  // A copy of what an anchor stands for. Trees of aliases grow exponentially, hence the budget.
  Value expand(Value value, const YAML::Mark& mark, std::size_t depth) {
    alias_text_ += value.as_string().size();
    if (++alias_nodes_ > kMaxYamlAliasNodes || alias_text_ > kMaxYamlAliasText)
      fault("document contains excessive aliasing", mark);
    const bool is_container = value.is_array() || value.is_object();
    if (is_container && depth >= kMaxDepth) fault("exceeded max depth", mark);
    if (failed()) return Value();
    if (value.is_array()) {
      const Value copy = Value::array(arena_, value.size());
      for (const Value item : value.items()) copy.push_back(expand(item, mark, depth + 1));
      return copy;
    }
    if (!value.is_object()) return value;  // text may be shared
    const Value copy = Value::object(arena_, value.size());
    for (const Member& member : value.members())
      copy.append(member.key, expand(member.value, mark, depth + 1));
    return copy;
  }

  Arena& arena_;
  const YamlOptions options_;
  YAML::Mark start_;
  YamlDocument document_;
  std::vector<Frame> stack_;
  std::string path_;
  std::unordered_map<YAML::anchor_t, Value> anchors_;  // of complete nodes
  std::size_t alias_nodes_ = 0;
  std::size_t alias_text_ = 0;
  std::size_t position_text_ = 0;
  std::optional<std::string> fault_;
  Position fault_at_;
};

Position position_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<int>(std::ranges::count(before, '\n')) + 1,
          static_cast<int>(offset - line_start) + 1};
}

// yaml-cpp reads 0x04 as the end of the text and repairs invalid UTF-8: neither may pass unseen.
Status check_text(std::string_view text) {
  if (text.size() > kMaxYamlText)
    return fail(Code::kTooLarge, fmt::format("yaml: more than {} bytes", kMaxYamlText));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_sequence_length(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0) return fail_at("invalid UTF-8", position_at(text, at));
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F)
      return fail_at("control characters are not allowed", position_at(text, at));
    at += length;
  }
  return {};
}

// yaml-cpp takes whatever follows a document as the next one; YAML wants "---" or "..." between
// them.
bool starts_document(std::string_view text, std::size_t offset) {
  if (text.substr(std::min(offset, text.size())).starts_with("---")) return true;
  std::string_view before = text.substr(0, offset);
  while (true) {
    const std::size_t line_start = before.rfind('\n') + 1;
    const std::string_view line = before.substr(line_start);
    const bool blank = line.find_first_not_of(" \t\r") == line.npos || line.starts_with('#');
    if (!blank) return line.starts_with("...");
    if (line_start == 0) return false;
    before = before.substr(0, line_start - 1);
  }
}

// yaml-cpp takes the end of the text as the end of a quoted scalar if white space stands before it.
// A document end marker in that place makes it notice.
std::string with_end_marker(std::string_view text) {
  std::string marked(text);
  const std::size_t last_line = text.rfind('\n') + 1;
  if (text.find_first_not_of(" \t\r", last_line) != text.npos) return marked;
  if (last_line < text.size()) marked += '\n';
  return marked += "...\n";
}

// JSON by the fast way, if it is plain JSON and nobody wants to know where things stand.
std::optional<YamlDocument> parse_as_json(Arena& arena, std::string_view text,
                                          YamlOptions options) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (options.positions || first == text.npos || text[first] != '{') return std::nullopt;
  ParseReport report;
  const auto root = parse(arena, text, &report);
  if (!root || !report.duplicates.empty()) return std::nullopt;
  YamlDocument document;
  document.root = *root;
  document.start = position_at(text, first);
  return document;
}

Result<std::vector<YamlDocument>> read_stream(Arena& arena, std::string_view text,
                                              YamlOptions options) {
  std::vector<YamlDocument> documents;
  std::istringstream stream(with_end_marker(text));
  YAML::Parser parser(stream);
  for (int last_start = -1;;) {
    DocumentBuilder builder(arena, options);
    if (!parser.HandleNextDocument(builder)) return documents;
    if (builder.failed()) return builder.error();
    // At a token that fits nowhere yaml-cpp finds one empty document after the other.
    const int start = builder.start().pos;
    const bool stuck = start <= last_start;
    const bool first = last_start < 0;
    if (stuck || (!first && !starts_document(text, static_cast<std::size_t>(start))))
      return fail_at("did not find expected <document start>", position_of(builder.start()));
    last_start = start;
    YamlDocument document = builder.take();
    if (!document.root.is_null()) documents.push_back(std::move(document));
  }
}

}  // namespace

Result<std::vector<YamlDocument>> parse_yaml(Arena& arena, std::string_view text,
                                             YamlOptions options) {
  MUSTER_CHECK(check_text(text));
  if (text.starts_with("\uFEFF")) text.remove_prefix(3);
  if (auto document = parse_as_json(arena, text, options)) {
    std::vector<YamlDocument> documents;
    documents.push_back(*std::move(document));
    return documents;
  }
  try {
    return read_stream(arena, text, options);
  } catch (const YAML::DeepRecursion& refused) {
    return fail_at("exceeded max depth", position_of(refused.mark));
  } catch (const YAML::Exception& refused) {
    // At our end marker, or at no place at all.
    if (static_cast<std::size_t>(refused.mark.pos) >= text.size())
      return fail_at("found unexpected end of stream", position_at(text, text.size()));
    return fail_at(refused.msg, position_of(refused.mark));
  } catch (const std::exception& refused) {
    return fail_at(refused.what(), {1, 1});
  }
}

Position find_position(const YamlDocument& document, std::string_view path) {
  while (true) {
    if (const auto found = document.positions.find(path); found != document.positions.end())
      return found->second;
    if (path.empty()) return document.start;
    const std::size_t cut = path.find_last_of(".[");
    path = path.substr(0, cut == path.npos ? 0 : cut);
  }
}

}  // namespace muster::json
