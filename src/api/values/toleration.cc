#include "api/values/toleration.h"

#include <algorithm>

namespace muster::api {
namespace {

bool bears(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  return toleration.any_value || toleration.value == taint.value;
}

}  // namespace

std::vector<Toleration> read_tolerations(json::Value list) {
  std::vector<Toleration> out;
  out.reserve(list.size());
  for (const json::Value each : list.items()) {
    const auto text = [&](std::string_view key) { return std::string(each.get(key).as_string()); };
    const std::string_view op = each.get("operator").as_string();
    // Gt and Lt belong to a feature that is off: such a toleration bears nothing.
    if (!op.empty() && op != "Equal" && op != "Exists") continue;
    Toleration toleration{.key = text("key"),
                          .value = text("value"),
                          .effect = text("effect"),
                          .any_value = op == "Exists",
                          .seconds = {}};
    if (const json::Value seconds = each.get("tolerationSeconds"); seconds.is_number())
      toleration.seconds = seconds.as_int();
    out.push_back(std::move(toleration));
  }
  return out;
}

const Toleration* find_toleration(std::span<const Toleration> tolerations, const Taint& taint) {
  const auto at = std::ranges::find_if(
      tolerations, [&](const Toleration& toleration) { return bears(toleration, taint); });
  return at == tolerations.end() ? nullptr : &*at;
}

}  // namespace muster::api
