// Probes and lifecycle hooks: something is asked of the container in one of a few ways.
#include <fmt/format.h>

#include "admission/pod/container_validation.h"

namespace muster::admission {
namespace {

void validate_http_get(Value action, const Path& path, FieldErrors& errors) {
  require_text(action, "path", path, errors);
  validate_port(action.get("port"), path.child("port"), errors);
  validate_choice(action, "scheme", {"HTTP", "HTTPS"}, path, errors);
}

void validate_exec(Value action, const Path& path, FieldErrors& errors) {
  if (action.get("command").empty()) errors.required(path.child("command"));
}

void validate_port_only(Value action, const Path& path, FieldErrors& errors) {
  validate_port(action.get("port"), path.child("port"), errors);
}

struct HandlerRule {
  std::string_view key;
  void (*validate)(Value action, const Path& path, FieldErrors& errors);
};

constexpr HandlerRule kHandlers[] = {
    {"exec", validate_exec},
    {"httpGet", validate_http_get},
    {"tcpSocket", validate_port_only},
    {"grpc", validate_port_only},
    {"sleep", [](Value, const Path&, FieldErrors&) {}},
};

void validate_handler(Value holder, const Path& path, FieldErrors& errors) {
  int handlers = 0;
  for (const HandlerRule& rule : kHandlers) {
    const Value action = holder.get(rule.key);
    if (!action.is_object()) continue;
    if (handlers++ > 0)
      errors.forbidden(path.child(rule.key), "may not specify more than 1 handler type");
    else
      rule.validate(action, path.child(rule.key), errors);
  }
  if (handlers == 0) errors.required(path, "must specify a handler type");
}

void validate_probe(Value probe, const Path& path, FieldErrors& errors) {
  validate_handler(probe, path, errors);
  for (const std::string_view key : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                     "successThreshold", "failureThreshold"})
    validate_not_negative(probe, key, path, errors);
  const Value grace = probe.get("terminationGracePeriodSeconds");
  if (!grace.is_null() && grace.as_int() <= 0)
    errors.invalid(path.child("terminationGracePeriodSeconds"), grace, "must be greater than 0");
}

void require_single_success(Value probe, const Path& path, FieldErrors& errors) {
  if (int_of(probe, "successThreshold") != 1)
    errors.invalid(path.child("successThreshold"), probe.get("successThreshold"), "must be 1");
}

void validate_sleep(Value sleep, std::int64_t grace, const Path& path, FieldErrors& errors) {
  const std::int64_t seconds = int_of(sleep, "seconds");
  if (seconds < 0 || seconds > grace)
    errors.invalid(path, sleep.get("seconds"),
                   fmt::format("must be non-negative and less than terminationGracePeriodSeconds "
                               "({})",
                               grace));
}

}  // namespace

void validate_probes(Value container, const Path& path, FieldErrors& errors) {
  for (const std::string_view key : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Value probe = container.get(key);
    if (!probe.is_object()) continue;
    const Path at = path.child(key);
    validate_probe(probe, at, errors);
    if (key != "readinessProbe")
      require_single_success(probe, at, errors);
    else if (has_value(probe, "terminationGracePeriodSeconds"))
      errors.invalid(at.child("terminationGracePeriodSeconds"),
                     probe.get("terminationGracePeriodSeconds"),
                     "must not be set for readinessProbes");
  }
}

void validate_lifecycle(Value lifecycle, std::int64_t grace, const Path& path,
                        FieldErrors& errors) {
  for (const std::string_view hook : {"postStart", "preStop"}) {
    const Value handler = lifecycle.get(hook);
    if (!handler.is_object()) continue;
    validate_handler(handler, path.child(hook), errors);
    if (has_value(handler, "sleep"))
      validate_sleep(handler.get("sleep"), grace, path.child(hook).child("sleep"), errors);
  }
}

}  // namespace muster::admission
