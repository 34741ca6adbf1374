// Where an API server is and how to prove who we are: from a kubeconfig, or from inside a cluster.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::client {

struct ServerConfig {
  std::string url;  // https://host:port
  std::string ca_pem;
  std::string certificate_pem;
  std::string private_key_pem;
  std::string token;
  std::string token_file;  // read again now and then: clusters rotate it
  std::string tls_server_name;
  bool verify_server = true;
  std::string ns = "default";

  bool operator==(const ServerConfig&) const = default;
};

// `text` is a kubeconfig; `context` empty is its current one. Files that it names are read relative
// to `directory`. Fails naming what is missing, or what is not supported (exec plugins, user names
// and passwords).
Result<ServerConfig> parse_kubeconfig(std::string_view text, std::string_view context,
                                      const std::string& directory);
Result<ServerConfig> load_kubeconfig(const std::string& file, std::string_view context = {});

// https://host:port, with brackets around an IPv6 address.
std::string https_url(std::string_view host, std::string_view port);

// The service account that a pod is given. `root` is where its files are, for tests.
Result<ServerConfig> in_cluster_config(
    std::string_view host, std::string_view port,
    const std::string& root = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace muster::client
