#include "api/values/selector.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/values/field_error.h"
#include "api/values/requirement.h"

namespace muster::api {
namespace {

using Op = Requirement::Op;

std::string requirement_text(const Requirement& requirement) {
  auto values = requirement.values;
  std::ranges::sort(values);
  const auto list = fmt::format("{}", fmt::join(values, ","));
  const bool exact = requirement.exact;
  switch (requirement.op) {
    case Op::kExists:
      return requirement.key;
    case Op::kNotExists:
      return "!" + requirement.key;
    case Op::kIn:
      return requirement.key + (exact ? "=" + list : " in (" + list + ")");
    case Op::kNotIn:
      return requirement.key + (exact ? "!=" + list : " notin (" + list + ")");
    case Op::kGreater:
      return fmt::format("{}>{}", requirement.key, list);
    case Op::kLess:
      return fmt::format("{}<{}", requirement.key, list);
  }
  return {};
}

Result<Requirement> requirement_of(json::Value expression) {
  Requirement requirement{
      .key = std::string(expression.get("key").as_string()), .op = {}, .values = {}};
  for (const json::Value value : expression.get("values").items()) {
    requirement.values.emplace_back(value.as_string());
  }
  const std::string_view op = expression.get("operator").as_string();
  if (op == "In") {
    requirement.op = Op::kIn;
  } else if (op == "NotIn") {
    requirement.op = Op::kNotIn;
  } else if (op == "Exists") {
    requirement.op = Op::kExists;
  } else if (op == "DoesNotExist") {
    requirement.op = Op::kNotExists;
  } else {
    return fail(Code::kBadRequest,
                fmt::format("{} is not a valid label selector operator", quote(op)));
  }
  MUSTER_CHECK(check_requirement(requirement));
  return requirement;
}

}  // namespace

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  LabelSelector selector;
  MUSTER_TRY(selector.requirements_, parse_requirements(text));
  return selector;
}

Result<LabelSelector> LabelSelector::from_object(json::Value object) {
  LabelSelector selector;
  selector.nothing_ = object.is_null();
  for (const json::Member& label : object.get("matchLabels").members()) {
    Requirement requirement{.key = std::string(label.key),
                            .op = Op::kIn,
                            .values = {std::string(label.value.as_string())},
                            .exact = true};
    MUSTER_CHECK(check_requirement(requirement));
    selector.requirements_.push_back(std::move(requirement));
  }
  for (const json::Value expression : object.get("matchExpressions").items()) {
    MUSTER_TRY(Requirement requirement, requirement_of(expression));
    selector.requirements_.push_back(std::move(requirement));
  }
  std::ranges::stable_sort(selector.requirements_, {}, &Requirement::key);
  return selector;
}

bool LabelSelector::matches(const LabelLookup& labels) const {
  return !nothing_ && std::ranges::all_of(requirements_, [&](const Requirement& requirement) {
    return is_met(requirement, labels(requirement.key));
  });
}

bool LabelSelector::matches(json::Value labels) const {
  return matches([&](std::string_view key) -> std::optional<std::string_view> {
    const json::Value* value = labels.find(key);
    if (value == nullptr) return std::nullopt;
    return value->as_string();
  });
}

std::string LabelSelector::text() const {
  std::vector<std::string> texts;
  texts.reserve(requirements_.size());
  for (const Requirement& requirement : requirements_)
    texts.push_back(requirement_text(requirement));
  return fmt::format("{}", fmt::join(texts, ","));
}

}  // namespace muster::api
