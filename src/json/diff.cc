#include "json/diff.h"

#include <algorithm>
#include <string>

namespace muster::json {
namespace {

// "~" and "/" of a key in a JSON Pointer.
void append_escaped(std::string& path, std::string_view key) {
  for (const char letter : key) {
    if (letter == '~') {
      path += "~0";
    } else if (letter == '/') {
      path += "~1";
    } else {
      path += letter;
    }
  }
}

class Differ {
 public:
  Differ(Arena& arena, Value patch) : arena_(arena), patch_(patch) {}

  void compare(Value before, Value after) {
    if (before.is_object() && after.is_object()) return compare_objects(before, after);
    if (before.is_array() && after.is_array()) return compare_items(before, after);
    if (before.kind() != after.kind() || !equal(before, after)) add("replace", &after);
  }

 private:
  void compare_objects(Value before, Value after) {
    for (const Member& member : before.members()) {
      if (after.has(member.key)) continue;
      const Step step(path_, member.key);
      add("remove", nullptr);
    }
    for (const Member& member : after.members()) {
      const Step step(path_, member.key);
      if (const Value* const old = before.find(member.key)) {
        compare(*old, member.value);
      } else {
        add("add", &member.value);
      }
    }
  }

  void compare_items(Value before, Value after) {
    const std::size_t common = std::min(before.size(), after.size());
    for (std::size_t i = 0; i < common; ++i) {
      const Step step(path_, std::to_string(i));
      compare(before.item(i), after.item(i));
    }
    for (std::size_t i = before.size(); i-- > common;) {
      const Step step(path_, std::to_string(i));
      add("remove", nullptr);
    }
    for (std::size_t i = common; i < after.size(); ++i) {
      const Step step(path_, "-");
      const Value item = after.item(i);
      add("add", &item);
    }
  }

  void add(std::string_view operation, const Value* value) {
    const Value entry = Value::object(arena_, 3);
    entry.set("op", Value::view(operation));
    entry.set("path", path_);
    if (value != nullptr) entry.set("value", *value);
    patch_.push_back(entry);
  }

  // One step further down, for as long as it lives.
  class Step {
   public:
    Step(std::string& path, std::string_view key) : path_(path), size_(path.size()) {
      path_ += '/';
      append_escaped(path_, key);
    }
    ~Step() { path_.resize(size_); }
    Step(const Step&) = delete;

   private:
    std::string& path_;
    std::size_t size_;
  };

  Arena& arena_;
  Value patch_;
  std::string path_;
};

}  // namespace

Value make_json_patch(Arena& arena, Value before, Value after) {
  const Value patch = Value::array(arena);
  Differ(arena, patch).compare(before, after);
  return patch;
}

}  // namespace muster::json
