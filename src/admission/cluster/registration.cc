// Kinds that extend the server: webhook configurations and CustomResourceDefinitions. They are kept
// and shown; what they ask for is not done (admission is in-process, the kinds are fixed).
#include <algorithm>
#include <string>

#include "admission/kinds.h"
#include "admission/rules/checks.h"
#include "base/ascii.h"

namespace muster::admission {
namespace {

void default_webhook(Value webhook) {
  if (const Value service = webhook.get({"clientConfig", "service"}); service.is_object())
    set_default(service, "port", Value::of(443));
  for (const Value rule : webhook.get("rules").items()) set_default(rule, "scope", "*");
  set_default(webhook, "failurePolicy", "Fail");
  set_default(webhook, "matchPolicy", "Equivalent");
  webhook.object_at("namespaceSelector");
  webhook.object_at("objectSelector");
  set_default(webhook, "timeoutSeconds", Value::of(10));
}

void default_validating(const Context&, Value configuration) {
  for (const Value webhook : configuration.get("webhooks").items()) default_webhook(webhook);
}

void default_mutating(const Context&, Value configuration) {
  for (const Value webhook : configuration.get("webhooks").items()) {
    default_webhook(webhook);
    set_default(webhook, "reinvocationPolicy", "Never");
  }
}

void validate_url(Value config, const Path& path, FieldErrors& errors) {
  const std::string_view url = text_of(config, "url");
  const std::string_view scheme = url.substr(0, std::min(url.find("://"), url.size()));
  if (!url.empty() && scheme != "https")
    errors.invalid(path.child("url"), scheme,
                   "'https' is the only allowed URL scheme; desired format: https://host[/path]");
}

void validate_webhooks(const Context&, Value configuration, FieldErrors& errors) {
  const Value webhooks = configuration.get("webhooks");
  for (std::size_t i = 0; i < webhooks.size(); ++i) {
    const Value webhook = webhooks.item(i);
    const Path path = Path("webhooks").index(i);
    const std::string_view name = text_of(webhook, "name");
    add_faults(errors, path.child("name"), name, api::check_dns1123_subdomain(name));
    if (std::ranges::count(name, '.') < 2)
      errors.invalid(path.child("name"), name,
                     "should be a domain with at least three segments separated by dots");
    if (text_of(webhook, "sideEffects").empty())
      errors.required(path.child("sideEffects"), "must specify one of None, NoneOnDryRun");
    validate_url(webhook.get("clientConfig"), path.child("clientConfig"), errors);
    const Value versions = webhook.get("admissionReviewVersions");
    if (versions.empty())
      errors.required(path.child("admissionReviewVersions"), "must specify one of v1, v1beta1");
    else if (!contains_text(versions, "v1") && !contains_text(versions, "v1beta1"))
      errors.invalid(path.child("admissionReviewVersions"), versions,
                     "must include at least one of v1, v1beta1");
  }
}

void default_definition(const Context&, Value definition) {
  const Value spec = definition.object_at("spec");
  const Value names = spec.object_at("names");
  const std::string kind(text_of(names, "kind"));
  if (text_of(names, "singular").empty() && !kind.empty()) names.set("singular", lower_case(kind));
  if (text_of(names, "listKind").empty() && !kind.empty()) names.set("listKind", kind + "List");
  const Value conversion = spec.object_at("conversion");
  set_default(conversion, "strategy", "None");
}

void prepare_definition_create(const Context&, Value definition) {
  const Value stored = Value::array(definition.arena());
  for (const Value version : definition.get({"spec", "versions"}).items())
    if (version.get("storage").as_bool()) stored.push_back(version.get("name"));
  definition.object_at("status").set("storedVersions", stored);
}

void validate_definition(const Context&, Value definition, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = definition.get("spec");
  const std::string_view name = text_of(definition.get("metadata"), "name");
  const std::string expected =
      std::string(text_of(spec.get("names"), "plural")) + "." + std::string(text_of(spec, "group"));
  if (name != expected)
    errors.invalid(Path("metadata").child("name"), name,
                   "must be spec.names.plural+\".\"+spec.group");
  require_text(spec, "group", path, errors);
  require_choice(spec, "scope", {"Cluster", "Namespaced"}, path, errors);
}

}  // namespace

constinit const Kind kValidatingWebhookConfiguration = {
    .group = "admissionregistration.k8s.io",
    .name = "ValidatingWebhookConfiguration",
    .apply_defaults = default_validating,
    .validate = validate_webhooks,
};

constinit const Kind kMutatingWebhookConfiguration = {
    .group = "admissionregistration.k8s.io",
    .name = "MutatingWebhookConfiguration",
    .apply_defaults = default_mutating,
    .validate = validate_webhooks,
};

constinit const Kind kCustomResourceDefinition = {
    .group = "apiextensions.k8s.io",
    .name = "CustomResourceDefinition",
    .apply_defaults = default_definition,
    .prepare_create = prepare_definition_create,
    .validate = validate_definition,
};

}  // namespace muster::admission
