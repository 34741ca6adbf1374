#include "engine/local_node.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "agent/agent.h"
#include "agent/inputs/lock_folder.h"
#include "agent/inputs/names.h"
#include "base/log.h"
#include "client/client.h"
#include "runtime/fair_start.h"
#include "runtime/oci_container.h"
#include "runtime/runtime.h"

namespace muster::engine {
namespace {

// Fewer leave processors idle between the steps of a start.
constexpr std::size_t kStartsPerProcessor = 2;
// How long the last processes may take to vanish after SIGKILL.
constexpr Duration kLongestEnd = std::chrono::seconds(10);

bool is_able_to(const runtime::Runtime& runtime, std::string_view what) {
  return std::ranges::any_of(runtime.abilities(), [&](const runtime::Ability& each) {
    return each.name == what && each.available;
  });
}

// For the mounts that hide them, whatever links lead to them.
Result<std::vector<std::string>> canonical_folders(std::vector<std::string> folders) {
  std::erase(folders, "");
  for (std::string& folder : folders) {
    std::error_code error;
    const auto found = std::filesystem::canonical(folder, error);
    if (error) return fail(Code::kInternal, fmt::format("{}: {}", folder, error.message()));
    folder = found;
  }
  return folders;
}

class JoinedNode final : public LocalNode {
 public:
  JoinedNode(Loop& loop, client::Transport& transport, LocalNodeOptions options)
      : loop_(loop), client_(transport, "muster-agent"), options_(std::move(options)) {}

  ~JoinedNode() override {
    if (programs_ != nullptr) programs_->disconnect();
    if (!agent_ || !options_.leave_nothing) return;
    const TimerId timer = loop_.after(kLongestEnd, [this] {
      log::error("processes of pods do not end", {});
      loop_.stop();
    });
    agent_->kill_everything([this] { loop_.stop(); });
    loop_.run();
    loop_.cancel(timer);
  }

  Status start(agent::LogReader& logs, agent::PodPrograms& programs) {
    programs_ = &programs;
    agent::AgentOptions options;
    PodPolicy pods = options_.pods;
    // Pods of a private server run as the user that called sudo.
    if (pods.user.empty() && options_.leave_nothing) pods.user = sudo_caller();
    MUSTER_TRY(options.identity, identity_under(pods));
    if (!pods.oci_runtime.empty()) {
      options.images = pods.images;
      MUSTER_TRY(options.images.oci_program, runtime::find_oci_program(pods.oci_runtime));
    }
    const agent::Paths paths{options_.data_dir};
    MUSTER_TRY(auto processes,
               runtime::make_process_runtime(loop_, {.directory = paths.runtime(),
                                                     .end_with_agent = options_.leave_nothing}));
    runtime_ = std::make_unique<runtime::FairStart>(
        loop_, std::move(processes), kStartsPerProcessor * std::thread::hardware_concurrency());
    const std::string locks = agent::find_lock_folder(agent::lock_folder_candidates(::geteuid()));
    MUSTER_TRY(names_, agent::Names::open(paths.names(), {.folder = locks}));
    // A private server (leave_nothing) has one caller, whose files may lie in /tmp.
    const bool own_folders = !pods.shared_tmp && !options_.leave_nothing &&
                             is_able_to(*runtime_, runtime::kMountNamespaces);
    MUSTER_TRY(users_, users_under(pods, {.data_dir = options_.data_dir,
                                          .lock_folder = locks,
                                          .own_folders = own_folders}));
    options.users = users_.get();
    options.job_set_processes = job_set_processes_under(pods);
    if (users_ && users_->hides(options.identity.program))
      options.identity.program_is_hidden = true;
    // Without a private root the program cannot be mounted. A pod that needs it then fails with
    // kNotFound and a message, and other pods start.
    if (!is_able_to(*runtime_, runtime::kPrivateRoot)) options.identity.program_is_hidden = false;
    options.nodes = options_.nodes;
    options.facts = agent::read_machine_facts(options_.data_dir);
    options.data_directory = options_.data_dir;
    options.environment = common_environment();
    options.host_paths = pods.host_paths;
    MUSTER_TRY(options.hidden, canonical_folders({options_.data_dir, locks}));
    options.pod_processes = pods.processes;
    options.hide_gpus = pods.hide_gpus;
    options.ca_pem = options_.ca_pem;
    options.api_environment = {"KUBERNETES_SERVICE_HOST=" + options_.api_host,
                               fmt::format("KUBERNETES_SERVICE_PORT={}", options_.api_port),
                               fmt::format("KUBERNETES_SERVICE_PORT_HTTPS={}", options_.api_port)};
    options.log_began = [&logs](const agent::LogKey& run) { logs.began(run); };
    options.log_ended = [&logs](const agent::LogKey& run) { logs.ended(run); };
    options.logs_known = [&logs] { logs.settle(); };
    agent_ = std::make_unique<agent::Agent>(client_, api::Registry::builtin(), *runtime_, *names_,
                                            std::move(options));
    agent_->start();
    programs.connect(*runtime_, [this](const std::string& uid, const std::string& container) {
      return agent_->running(uid, container);
    });
    return {};
  }

 private:
  Loop& loop_;
  client::Client client_;
  const LocalNodeOptions options_;
  agent::PodPrograms* programs_ = nullptr;
  std::unique_ptr<runtime::Runtime> runtime_;
  std::unique_ptr<agent::Names> names_;
  std::unique_ptr<agent::UserBook> users_;
  std::unique_ptr<agent::Agent> agent_;
};

}  // namespace

Result<std::unique_ptr<LocalNode>> LocalNode::start(Loop& loop, client::Transport& transport,
                                                    agent::LogReader& logs,
                                                    agent::PodPrograms& programs,
                                                    LocalNodeOptions options) {
  auto node = std::make_unique<JoinedNode>(loop, transport, std::move(options));
  MUSTER_CHECK(node->start(logs, programs));
  return node;
}

}  // namespace muster::engine
