#include "fields/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/values/field_error.h"
#include "json/go_text.h"

namespace muster::fields {
namespace {

using api::Schema;
using api::Shape;
using json::Member;
using json::Value;

std::vector<Member> sorted_members(Value object) {
  std::vector<Member> members(object.members().begin(), object.members().end());
  std::ranges::sort(members, {}, &Member::key);
  return members;
}

// As Go's fmt prints it with %#v: map[string]interface {}{"a":1}.
std::string go_syntax(Value value) {
  if (value.is_null()) return "interface {}(nil)";
  if (value.is_string()) return api::quote(value.as_string());
  if (!value.is_array() && !value.is_object()) return json::go_text(value);
  std::vector<std::string> parts;
  for (const Value item : value.items()) parts.push_back(go_syntax(item));
  for (const auto& [key, below] : sorted_members(value))
    parts.push_back(fmt::format("{}:{}", api::quote(key), go_syntax(below)));
  return fmt::format("{}{{{}}}", json::go_type(value), fmt::join(parts, ", "));
}

class Checker {
 public:
  Checker(json::Arena& arena, Duplicates duplicates) : arena_(arena), duplicates_(duplicates) {}

  void check(const Schema* type, Value value) {
    if (type == nullptr) return;
    switch (type->shape) {
      case Shape::kStruct:
      case Shape::kMap:
        return check_members(*type, value);
      case Shape::kList:
        return check_list(*type, value);
      // Published without a type, so that upstream takes anything here and refuses it later.
      case Shape::kAny:
      case Shape::kFieldsV1:
      case Shape::kQuantity:
      case Shape::kIntOrString:
        return;
      default:
        return check_scalar(*type, value);
    }
  }

  const std::vector<std::string>& errors() const { return errors_; }

 private:
  void check_scalar(const Schema& type, Value value) {
    if (value.is_null()) return;
    const bool is_number = type.shape == Shape::kInteger || type.shape == Shape::kNumber;
    const bool is_string =
        type.shape == Shape::kBytes || (type.shape == Shape::kString && type.format.empty());
    if (is_number) {
      if (!value.is_number())
        fault(fmt::format("expected numeric (int or float), got {}", json::go_type(value)));
    } else if (is_string) {
      if (!value.is_string()) {
        fault(fmt::format("expected string, got &value.valueUnstructured{{Value:{}}}",
                          go_syntax(value)));
      }
    } else if (type.shape == Shape::kBoolean) {
      if (!value.is_bool())
        fault(fmt::format("expected boolean, got &{{{}}}", json::go_text(value)));
    } else if (value.is_object() || value.is_array()) {
      fault(fmt::format("expected any scalar, got &{{{}}}", json::go_text(value)));
    }
  }

  // In the order of names. A field that is not declared ends it.
  void check_members(const Schema& type, Value value) {
    if (value.is_null()) return;
    if (!value.is_object())
      return fault(fmt::format("expected map, got &{{{}}}", json::go_text(value)));
    for (const Member& member : sorted_members(value)) {
      const MemberType place = member_type(&type, member.key);
      path_.push_back(PathElement::field(member.key));
      if (place.allowed) {
        check(place.type, member.value);
      } else {
        fault("field not declared in schema");
      }
      path_.pop_back();
      if (!place.allowed) return;
    }
  }

  void check_list(const Schema& list, Value value) {
    if (value.is_null()) return;
    if (!value.is_array())
      return fault(fmt::format("expected list, got &{{{}}}", json::go_text(value)));
    const bool keyed = treatment(&list) != Treatment::kLeaf;
    std::set<PathElement, PathElementLess> seen;
    std::int64_t at = 0;
    for (const Value item : value.items()) {
      PathElement element = PathElement::index(at++);
      if (keyed) {
        Result<PathElement> made = item_element(arena_, list, item);
        if (!made) return fault(fmt::format("element {}: {}", at - 1, made.error().message));
        element = *made;
        if (!seen.insert(element).second && duplicates_ == Duplicates::kRefused) {
          fault("duplicate entries for key " + to_text(element));
        }
      }
      path_.push_back(element);
      check(list.elem, item);
      path_.pop_back();
    }
  }

  void fault(const std::string& message) {
    errors_.push_back(path_.empty() ? message : to_text(path_) + ": " + message);
  }

  json::Arena& arena_;
  const Duplicates duplicates_;
  std::vector<PathElement> path_;
  std::vector<std::string> errors_;
};

}  // namespace

Status check_document(json::Arena& arena, const Schema* type, Value document,
                      Duplicates duplicates) {
  Checker checker(arena, duplicates);
  checker.check(type, document);
  if (checker.errors().empty()) return {};
  if (checker.errors().size() == 1) return fail(Code::kUntranslated, checker.errors().front());
  std::string text = "errors:";
  for (const std::string& error : checker.errors()) text += "\n  " + error;
  return fail(Code::kUntranslated, std::move(text));
}

}  // namespace muster::fields
