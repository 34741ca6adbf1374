// The commands of `muster`, each a function of its options that returns the exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::cli {

struct ServeOptions {
  std::string data_dir;
  std::string listen = "127.0.0.1:0";
  bool allow_remote = false;  // an address other than loopback needs this as well (S1)
  std::string kubeconfig_out;
  std::string controllers = "*";
  std::string feature_gates;
  std::string config_file;
  std::vector<std::string> names;
};
int serve(ServeOptions options);

struct RunOptions {
  std::string file;      // "-" is standard input
  std::string data_dir;  // empty: a private one that is removed at the end
  std::string ns = "default";
};
int run(const RunOptions& options);

struct SimOptions {
  std::vector<std::string> files;  // scenarios
  std::uint64_t seed = 1;
  std::uint64_t runs = 1;     // with so many seeds from `seed` on
  bool faults = false;        // random ones, made of the seed
  bool crash_points = false;  // die before and after every write, one after the other
  std::string crash_at;       // one of these: "17", "17+", "17s", "17+s"
  bool trace = false;         // print the controllers' writes
  std::string output;         // json: what is left; state: in canonical form
  std::string compare;        // a file with a List: another engine's end, which must be the same
};
int simulate(const SimOptions& options);

struct OperatorOptions {
  std::string kubeconfig;  // empty: the cluster in which this is a pod
  std::string context;
  std::string ns;
  std::string controllers = "jobset";
  std::string feature_gates;
  bool leader_elect = true;
  std::string webhook_listen;
  std::string webhook_url;
  bool manage_webhooks = false;
  std::string data_dir;
  std::string health_listen;
  bool allow_remote = false;
};
int run_operator(const OperatorOptions& options);

struct InstallOptions {
  bool print = false;
  std::string ns;
  std::string webhook_url;
  std::string webhook_ca;  // a file
};
int install(const InstallOptions& options);

int check(const std::string& data_dir);
int backup(const std::string& data_dir, const std::string& file);
int restore(const std::string& file, const std::string& data_dir);
int version();

}  // namespace muster::cli
