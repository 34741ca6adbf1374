#include "engine/manager_config.h"

#include <fmt/format.h>

#include "base/duration.h"
#include "json/yaml.h"

namespace muster::engine {
namespace {

using json::Value;

constexpr int kWebhookPort = 9443;  // of upstream, when only the host is given

Error invalid(std::string_view field, std::string_view why) {
  return {.code = Code::kInvalid, .message = fmt::format("{}: {}", field, why)};
}

// ":8081" is every address.
std::string listen_address(std::string_view text) {
  return text.starts_with(":") ? fmt::format("0.0.0.0{}", text) : std::string(text);
}

// One mapping of the file; every field must be asked for.
class Section {
 public:
  Section(std::string path, Value value) : path_(std::move(path)), value_(value) {}

  Status only(std::initializer_list<std::string_view> known) const {
    if (!value_.is_object() && !value_.is_null())
      return std::unexpected(invalid(path_, "must be a mapping"));
    for (const auto& member : value_.members()) {
      if (std::ranges::find(known, member.key) == known.end())
        return std::unexpected(invalid(field(member.key), "unknown field"));
    }
    return {};
  }

  Result<std::string> text(std::string_view key) const {
    const Value value = value_.get(key);
    if (value.is_null()) return "";
    if (!value.is_string()) return std::unexpected(invalid(field(key), "must be a text"));
    return std::string(value.as_string());
  }

  Status take(std::string_view key, std::optional<bool>& out) const {
    const Value value = value_.get(key);
    if (value.is_null()) return {};
    if (!value.is_bool()) return std::unexpected(invalid(field(key), "must be true or false"));
    out = value.as_bool();
    return {};
  }

  Status take(std::string_view key, std::optional<Duration>& out) const {
    MUSTER_TRY(const std::string written, text(key));
    if (written.empty()) return {};
    out = parse_duration(written);
    if (!out) return std::unexpected(invalid(field(key), "must be a duration such as 15s"));
    return {};
  }

  Section section(std::string_view key) const { return {field(key), value_.get(key)}; }
  Value get(std::string_view key) const { return value_.get(key); }
  std::string field(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }

 private:
  std::string path_;
  Value value_;
};

Status read_webhook(const Section& webhook, ManagerConfig& out) {
  MUSTER_CHECK(webhook.only({"port", "host", "certDir"}));
  MUSTER_TRY(const std::string directory, webhook.text("certDir"));
  if (!directory.empty()) {
    return std::unexpected(invalid(webhook.field("certDir"),
                                   "muster makes its own certificates; remove it, --data-dir "
                                   "says where they are kept"));
  }
  MUSTER_TRY(const std::string host, webhook.text("host"));
  const Value port = webhook.get("port");
  if (!port.is_null() && (!port.is_int() || port.as_int() < 1 || port.as_int() > 65'535))
    return std::unexpected(invalid(webhook.field("port"), "must be a port"));
  if (host.empty() && port.is_null()) return {};
  out.webhook_listen = fmt::format("{}:{}", host.empty() ? "0.0.0.0" : host,
                                   port.is_null() ? kWebhookPort : port.as_int());
  return {};
}

Status read_leader_election(const Section& election, ManagerConfig& out) {
  MUSTER_CHECK(election.only({"leaderElect", "resourceName", "resourceLock", "resourceNamespace",
                              "leaseDuration", "renewDeadline", "retryPeriod"}));
  MUSTER_CHECK(election.take("leaderElect", out.leader_elect));
  MUSTER_CHECK(election.take("leaseDuration", out.lease_duration));
  MUSTER_CHECK(election.take("renewDeadline", out.renew_deadline));
  MUSTER_CHECK(election.take("retryPeriod", out.retry_period));
  MUSTER_TRY(out.lease_name, election.text("resourceName"));
  MUSTER_TRY(out.lease_namespace, election.text("resourceNamespace"));
  MUSTER_TRY(const std::string lock, election.text("resourceLock"));
  if (!lock.empty() && lock != "leases")
    return std::unexpected(invalid(election.field("resourceLock"), "only leases are there"));
  return {};
}

// One address serves both: the one for health, else the one for metrics ("0" means none).
Status read_addresses(const Section& metrics, const Section& health, ManagerConfig& out) {
  MUSTER_CHECK(metrics.only({"bindAddress", "certDir"}));
  MUSTER_CHECK(
      health.only({"healthProbeBindAddress", "readinessEndpointName", "livenessEndpointName"}));
  MUSTER_TRY(const std::string metrics_address, metrics.text("bindAddress"));
  MUSTER_TRY(const std::string health_address, health.text("healthProbeBindAddress"));
  for (const auto& [key, name] : {std::pair("readinessEndpointName", "readyz"),
                                  std::pair("livenessEndpointName", "healthz")}) {
    MUSTER_TRY(const std::string wanted, health.text(key));
    if (!wanted.empty() && wanted != name && wanted != fmt::format("/{}", name))
      return std::unexpected(invalid(health.field(key), fmt::format("it is called {}", name)));
  }
  const std::string& address = health_address.empty() ? metrics_address : health_address;
  if (!address.empty() && address != "0") out.health_listen = listen_address(address);
  return {};
}

Status check_tls(const Section& tls) {
  MUSTER_CHECK(tls.only({"minVersion", "cipherSuites"}));
  MUSTER_TRY(const std::string version, tls.text("minVersion"));
  if (!version.empty() && version != "VersionTLS12" && version != "VersionTLS13") {
    return std::unexpected(
        Error{.code = Code::kInvalid,
              .message = fmt::format("invalid minVersion: {} is not supported. Please use "
                                     "VersionTLS12 or VersionTLS13",
                                     version)});
  }
  if (version == "VersionTLS13")
    return std::unexpected(invalid(tls.field("minVersion"), "muster speaks TLS 1.2 and 1.3"));
  if (tls.get("cipherSuites").size() > 0)
    return std::unexpected(invalid(tls.field("cipherSuites"), "they cannot be chosen"));
  return {};
}

Result<std::string> read_gates(Value gates) {
  std::string list;
  for (const auto& member : gates.members()) {
    if (!member.value.is_bool()) {
      return std::unexpected(
          invalid(fmt::format("featureGates.{}", member.key), "must be true or false"));
    }
    list += fmt::format("{}{}={}", list.empty() ? "" : ",", member.key, member.value.as_bool());
  }
  return list;
}

}  // namespace

Result<ManagerConfig> parse_manager_config(std::string_view yaml) {
  json::Arena arena;
  MUSTER_TRY(const auto documents, json::parse_yaml(arena, yaml));
  if (documents.size() != 1 || !documents[0].root.is_object())
    return fail(Code::kInvalid, "one YAML mapping is wanted");
  if (!documents[0].duplicates.empty()) return fail(Code::kInvalid, documents[0].duplicates[0]);
  const Section file("", documents[0].root);
  MUSTER_CHECK(file.only({"apiVersion", "kind", "webhook", "leaderElection", "metrics", "health",
                          "tls", "internalCertManagement", "clientConnection", "featureGates"}));
  if (file.get("apiVersion").as_string() != "config.jobset.x-k8s.io/v1alpha1" ||
      file.get("kind").as_string() != "Configuration") {
    return fail(Code::kInvalid,
                "apiVersion config.jobset.x-k8s.io/v1alpha1 and kind Configuration are wanted");
  }
  ManagerConfig out;
  MUSTER_CHECK(read_webhook(file.section("webhook"), out));
  MUSTER_CHECK(read_leader_election(file.section("leaderElection"), out));
  MUSTER_CHECK(read_addresses(file.section("metrics"), file.section("health"), out));
  MUSTER_CHECK(check_tls(file.section("tls")));
  MUSTER_CHECK(file.section("internalCertManagement")
                   .only({"enable", "webhookServiceName", "webhookSecretName"}));
  MUSTER_CHECK(file.section("clientConnection").only({"qps", "burst"}));
  MUSTER_TRY(out.feature_gates, read_gates(file.get("featureGates")));
  return out;
}

}  // namespace muster::engine
