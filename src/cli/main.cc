// The `muster` command: flags in, exit code out. Everything else is in the commands.
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/exit_code.h"

namespace {

using muster::cli::InstallOptions;
using muster::cli::OperatorOptions;
using muster::cli::RunOptions;
using muster::cli::ServeOptions;

void add_serve(CLI::App& app, ServeOptions& options, int& code) {
  CLI::App* serve =
      app.add_subcommand("serve", "Serve the Kubernetes API with its controllers on this machine");
  serve->add_option("--data-dir", options.data_dir,
                    "Where objects, keys and logs are kept (created with mode 0700)");
  serve->add_option("--listen", options.listen, "ADDRESS:PORT; port 0 takes any free one")
      ->capture_default_str();
  serve->add_flag("--allow-remote", options.allow_remote,
                  "Allow --listen an address that other machines can reach");
  serve->add_option("--name", options.names,
                    "A further name or address that clients use for this server");
  serve->add_option("--kubeconfig-out", options.kubeconfig_out,
                    "Where to write the admin's kubeconfig [DATA-DIR/kubeconfig]");
  serve
      ->add_option("--controllers", options.controllers,
                   "* or none or names; -name removes one: *,-job,-agent")
      ->capture_default_str();
  serve->add_option("--feature-gates", options.feature_gates, "A=true,B=false");
  serve->add_option("--config", options.config_file, "The same settings as a YAML file; flags win");
  serve->callback([&] { code = muster::cli::serve(options); });
}

void add_run(CLI::App& app, RunOptions& options, int& code) {
  CLI::App* run =
      app.add_subcommand("run", "Run a JobSet here, follow its logs and end with its outcome");
  run->add_option("file", options.file, "A YAML file, or - for standard input")->required();
  run->add_option("-n,--namespace", options.ns, "Namespace for objects that name none")
      ->capture_default_str();
  run->add_option("--data-dir", options.data_dir,
                  "Keep the objects and logs here [a private directory, removed at the end]");
  run->callback([&] { code = muster::cli::run(options); });
}

void add_sim(CLI::App& app, muster::cli::SimOptions& options, int& code) {
  CLI::App* sim = app.add_subcommand(
      "sim", "Run scenarios in virtual time with the real controllers, and faults if wanted");
  sim->add_option("files", options.files, "Scenario files (docs/simulation.md)");
  sim->add_option("--seed", options.seed, "Of everything that is random")->capture_default_str();
  sim->add_option("--runs", options.runs, "So many, each with the next seed")
      ->capture_default_str();
  sim->add_flag("--faults", options.faults,
                "Crashes, lost answers, conflicts, cut and late watches, made of the seed");
  sim->add_flag("--crash-points", options.crash_points,
                "Die before and after every single write; the end must stay the same");
  sim->add_option("--crash-at", options.crash_at,
                  "One crash point: number of the write, + for after it, s for a stale cache");
  sim->add_flag("--trace", options.trace, "Print the controllers' writes");
  sim->add_option("-o,--output", options.output, "json or state: print what is left at the end")
      ->check(CLI::IsMember({"json", "state"}));
  sim->add_option("--compare", options.compare,
                  "A List of objects (JSON), the end on another engine: say how it differs");
  sim->callback([&] { code = muster::cli::simulate(options); });
}

void add_operator(CLI::App& app, OperatorOptions& options, int& code) {
  CLI::App* run =
      app.add_subcommand("operator", "Run the controllers and webhooks for a Kubernetes cluster");
  run->add_option("--kubeconfig", options.kubeconfig,
                  "How to reach the API server [as a pod of the cluster]");
  run->add_option("--context", options.context, "Of the kubeconfig [its current one]");
  run->add_option("-n,--namespace", options.ns, "Where the lease is [the pod's, or jobset-system]");
  run->add_option("--controllers", options.controllers, "Names, as for serve")
      ->capture_default_str();
  run->add_option("--feature-gates", options.feature_gates, "A=true,B=false");
  run->add_flag("--leader-elect,!--no-leader-elect", options.leader_elect,
                "Work only while holding the lease [on]");
  run->add_option("--webhook-listen", options.webhook_listen,
                  "ADDRESS:PORT to serve admission webhooks at [none]");
  run->add_option("--webhook-url", options.webhook_url,
                  "How the API server reaches the webhooks [https:// and that address]");
  run->add_flag("--manage-webhooks", options.manage_webhooks,
                "Tell the API server of the webhooks and their authority");
  run->add_option("--data-dir", options.data_dir,
                  "Keep the webhooks' authority here [a new one in every process]");
  run->add_option("--health-listen", options.health_listen,
                  "ADDRESS:PORT for /healthz, /readyz and /metrics [none]");
  run->add_flag("--allow-remote", options.allow_remote,
                "Allow addresses that other machines can reach");
  run->callback([&] { code = muster::cli::run_operator(options); });
}

void add_install(CLI::App& app, InstallOptions& options, int& code) {
  CLI::App* install =
      app.add_subcommand("install", "What a cluster needs before `muster operator` works there");
  install->add_flag("--print", options.print, "Print it as YAML, for kubectl apply --server-side");
  install->add_option("-n,--namespace", options.ns, "Of the operator [jobset-system]");
  install->add_option("--webhook-url", options.webhook_url,
                      "With webhook configurations for this address");
  install->add_option("--webhook-ca", options.webhook_ca,
                      "A PEM file: who signed the webhooks' certificate");
  install->callback([&] { code = muster::cli::install(options); });
}

void add_maintenance(CLI::App& app, std::string& data_dir, std::string& file, int& code) {
  CLI::App* check = app.add_subcommand("check", "Verify a data directory");
  check->add_option("dir", data_dir)->required();
  check->callback([&] { code = muster::cli::check(data_dir); });
  CLI::App* backup = app.add_subcommand(
      "backup", "Copy a data directory's objects to one file, also while it is served");
  backup->add_option("dir", data_dir)->required();
  backup->add_option("file", file)->required();
  backup->callback([&] { code = muster::cli::backup(data_dir, file); });
  CLI::App* restore = app.add_subcommand("restore", "Make a data directory from a backup");
  restore->add_option("file", file)->required();
  restore->add_option("dir", data_dir)->required();
  restore->callback([&] { code = muster::cli::restore(file, data_dir); });
  app.add_subcommand("version", "Print the version")->callback([&] {
    code = muster::cli::version();
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("muster: groups of processes that only make sense together");
  app.require_subcommand(1);
  int code = muster::cli::kSucceeded;
  ServeOptions serve;
  RunOptions run;
  muster::cli::SimOptions sim;
  OperatorOptions run_operator;
  InstallOptions install;
  std::string data_dir, file;
  add_serve(app, serve, code);
  add_run(app, run, code);
  add_sim(app, sim, code);
  add_operator(app, run_operator, code);
  add_install(app, install, code);
  add_maintenance(app, data_dir, file, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int parse_code = app.exit(error);
    return parse_code == 0 ? 0 : muster::cli::kUsage;
  }
  return code;
}
