#include "client/kubeconfig.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/base64.h"
#include "json/yaml.h"

namespace muster::client {
namespace {

using json::Value;

Result<std::string> read_file(const std::string& file) {
  // A folder can be opened, and throws when it is read.
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    return fail(Code::kInvalid, file + " is a folder, not a file");
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(Code::kNotFound, "cannot read " + file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// clusters, contexts and users are lists of {name, <singular>}.
Result<Value> entry(Value config, std::string_view list, std::string_view singular,
                    std::string_view name) {
  for (const Value item : config.get(list).items()) {
    if (item.get("name").as_string() == name) return item.get(singular);
  }
  return fail(Code::kInvalid, fmt::format("kubeconfig: there is no \"{}\" among {}", name, list));
}

// A PEM text: inline as `<key>-data` in base64, or in the file that `<key>` names.
Result<std::string> pem(Value from, std::string_view key, const std::string& directory) {
  const std::string_view inlined = from.get(std::string(key) + "-data").as_string();
  if (!inlined.empty()) {
    auto decoded = decode_base64(inlined);
    if (!decoded)
      return fail(Code::kInvalid, fmt::format("kubeconfig: {}-data is not base64", key));
    return *std::move(decoded);
  }
  const std::string_view file = from.get(key).as_string();
  if (file.empty()) return std::string();
  return read_file((std::filesystem::path(directory) / file).string());
}

// A wrong file is called one, and not taken for a kubeconfig with something missing.
Result<Value> read_config(json::Arena& arena, std::string_view text, std::string_view file) {
  const auto documents = json::parse_yaml(arena, text, {.positions = false});
  if (!documents) {
    return fail(Code::kInvalid,
                fmt::format("{} is no kubeconfig: {}", file, documents.error().message));
  }
  if (documents->size() == 1) {
    const Value config = documents->front().root;
    if (config.get("contexts").is_array() || config.get("clusters").is_array()) return config;
  }
  return fail(Code::kInvalid, fmt::format("{} is no kubeconfig", file));
}

// Files that it names are relative to the directory.
Result<ServerConfig> server_of(Value config, std::string_view context,
                               const std::string& directory) {
  const std::string_view wanted =
      context.empty() ? config.get("current-context").as_string() : context;
  if (wanted.empty())
    return fail(Code::kInvalid, "kubeconfig: it has no current-context; --context names one");
  MUSTER_TRY(const Value chosen, entry(config, "contexts", "context", wanted));
  MUSTER_TRY(const Value cluster,
             entry(config, "clusters", "cluster", chosen.get("cluster").as_string()));
  MUSTER_TRY(const Value user, entry(config, "users", "user", chosen.get("user").as_string()));
  for (const std::string_view unsupported : {"exec", "auth-provider", "username"}) {
    if (user.has(unsupported)) {
      return fail(
          Code::kInvalid,
          fmt::format("kubeconfig: user \"{}\" logs in by {}, which muster does not do; use a "
                      "certificate or a token",
                      chosen.get("user").as_string(), unsupported));
    }
  }
  ServerConfig out;
  out.url = cluster.get("server").as_string();
  if (out.url.empty()) return fail(Code::kInvalid, "kubeconfig: the cluster names no server");
  while (out.url.ends_with('/')) out.url.pop_back();
  MUSTER_TRY(out.ca_pem, pem(cluster, "certificate-authority", directory));
  MUSTER_TRY(out.certificate_pem, pem(user, "client-certificate", directory));
  MUSTER_TRY(out.private_key_pem, pem(user, "client-key", directory));
  out.tls_server_name = cluster.get("tls-server-name").as_string();
  out.verify_server = !cluster.get("insecure-skip-tls-verify").as_bool();
  out.token = user.get("token").as_string();
  if (const std::string_view file = user.get("tokenFile").as_string(); !file.empty()) {
    out.token_file = (std::filesystem::path(directory) / file).string();
  }
  if (const std::string_view ns = chosen.get("namespace").as_string(); !ns.empty()) out.ns = ns;
  return out;
}

}  // namespace

Result<ServerConfig> parse_kubeconfig(std::string_view text, std::string_view context,
                                      const std::string& directory) {
  json::Arena arena;
  MUSTER_TRY(const Value config, read_config(arena, text, "this"));
  return server_of(config, context, directory);
}

Result<ServerConfig> load_kubeconfig(const std::string& file, std::string_view context) {
  MUSTER_TRY(const std::string text, read_file(file));
  json::Arena arena;
  MUSTER_TRY(const Value config, read_config(arena, text, file));
  return server_of(config, context, std::filesystem::path(file).parent_path().string());
}

std::string https_url(std::string_view host, std::string_view port) {
  const bool ipv6 = host.find(':') != std::string_view::npos;
  return fmt::format("https://{}{}{}:{}", ipv6 ? "[" : "", host, ipv6 ? "]" : "", port);
}

Result<ServerConfig> in_cluster_config(std::string_view host, std::string_view port,
                                       const std::string& root) {
  if (host.empty() || port.empty()) {
    return fail(
        Code::kNotFound,
        "not inside a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  ServerConfig out;
  out.url = https_url(host, port);
  MUSTER_TRY(out.ca_pem, read_file(root + "/ca.crt"));
  out.token_file = root + "/token";
  if (const auto ns = read_file(root + "/namespace")) out.ns = *ns;
  return out;
}

}  // namespace muster::client
