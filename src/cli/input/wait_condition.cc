#include "cli/input/wait_condition.h"

#include <fmt/format.h>

#include "api/views/conditions.h"
#include "base/ascii.h"
#include "base/terminal_text.h"

namespace muster::cli {

Result<WaitCondition> WaitCondition::parse(std::string_view text) {
  WaitCondition out;
  constexpr std::string_view kConditionIs = "condition=", kPathIs = "jsonpath=";
  if (text == "delete") return out;
  if (text.starts_with(kConditionIs)) {
    out.kind_ = Kind::kCondition;
    const std::string_view rest = text.substr(kConditionIs.size());
    const std::size_t equal = rest.find('=');
    out.type_ = lower_case(rest.substr(0, equal));
    out.status_ = equal == rest.npos ? "true" : lower_case(rest.substr(equal + 1));
    if (!out.type_.empty()) return out;
  } else if (text.starts_with(kPathIs)) {
    out.kind_ = Kind::kPath;
    const std::string_view rest = text.substr(kPathIs.size());
    const std::size_t close = rest.rfind('}');
    const std::size_t equal = close == rest.npos ? rest.find('=') : rest.find('=', close);
    if (equal != rest.npos) out.value_ = std::string(rest.substr(equal + 1));
    MUSTER_TRY(out.path_, json::JsonPath::parse(rest.substr(0, equal)));
    return out;
  }
  return fail(Code::kInvalid,
              fmt::format("--for={}: it takes condition=TYPE, delete or jsonpath={{PATH}}=VALUE",
                          plain_text(text)));
}

bool WaitCondition::is_condition(std::string_view lower_case_type) const {
  return kind_ == Kind::kCondition && type_ == lower_case_type && status_ == "true";
}

bool WaitCondition::holds(json::Value object) const {
  if (kind_ == Kind::kDelete) return false;
  if (kind_ == Kind::kPath) {
    const std::string found = path_->print(object);
    return value_ ? found == *value_ : !found.empty();
  }
  for (const json::Value condition : object.get({"status", "conditions"}).items()) {
    if (lower_case(condition.get("type").as_string()) == type_)
      return lower_case(condition.get("status").as_string()) == status_;
  }
  return false;
}

bool has_ended_badly(json::Value object) { return api::has_condition(object, "Failed"); }

}  // namespace muster::cli
