// PodDriver: what comes before the first container, and the runs of containers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "agent/devices.h"
#include "agent/node_object.h"
#include "agent/pod_driver.h"
#include "agent/pod_requests.h"
#include "agent/termination_message.h"
#include "api/views/event_reasons.h"
#include "base/retry_delay.h"

namespace muster::agent {
namespace {

using json::Value;

constexpr Duration kFirstRetry = std::chrono::milliseconds(500);
constexpr Duration kLongestRetry = std::chrono::seconds(120);
constexpr Duration kStartRetry = std::chrono::seconds(10);
constexpr std::string_view kNoImage = "none";  // by custom, for the field has to be there
constexpr Duration kTokenRetry = std::chrono::seconds(30);

// Where a program says that an address is in use; a stack trace may follow.
constexpr TailSize kComplaints{.lines = 500, .bytes = 64 << 10};

Status make_directory(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed)
    return fail(Code::kInternal, fmt::format("cannot make {}: {}", path, failed.message()));
  return {};
}

}  // namespace

void PodDriver::prepare() {
  if (preparing_ || (prepare_at_ && now() < *prepare_at_)) return;
  prepare_at_.reset();
  if (const auto own = identity(); !own)
    return prepare_again_later("FailedCreatePodSandBox",
                               "Failed to create pod sandbox: " + own.error().message);
  if (const Status made = make_directory_of_pod(); !made)
    return prepare_again_later("FailedMount", made.error().message);
  if (const Status named = take_address(); !named)
    return prepare_again_later("FailedCreatePodSandBox",
                               "Failed to create pod sandbox: " + named.error().message);
  if (!fetch_tokens()) return;
  if (const Status mounted = refresh_volumes(); !mounted) {
    if (mounted.error().code == Code::kTooLarge) return never_prepared(mounted.error().message);
    return prepare_again_later("FailedMount", mounted.error().message);
  }
  enter_runtime();
}

// What the pod asks for is more than any pod gets: to try again would not help.
void PodDriver::never_prepared(const std::string& message) {
  tell(std::nullopt, true, "FailedMount", message);
  fail_for_good(memory_, {.reason = "VolumesTooLarge", .message = message});
}

void PodDriver::prepare_again_later(std::string_view reason, const std::string& message) {
  tell(std::nullopt, true, std::string(reason), message);
  prepare_at_ = now() + retry_delay(kFirstRetry, kLongestRetry, failed_preparations_++);
}

Status PodDriver::make_directory_of_pod() {
  if (devices_.empty() && pod_.get({"spec", "volumes"}).empty()) return {};
  MUSTER_CHECK(make_directory(node_.paths.pod(view_.uid)));
  return write_devices(node_.paths.pod(view_.uid), devices_);
}

// Names are known before any process starts.
Status PodDriver::take_address() {
  const Value spec = pod_.get("spec");
  if (spec.get("hostNetwork").as_bool()) {
    memory_.pod_ip = node_.host_ip;
    return {};
  }
  MUSTER_TRY(memory_.pod_ip,
             node_.names.add({.ns = view_.ns,
                              .uid = view_.uid,
                              .hostname = view_.hostname,
                              .subdomain = std::string(spec.get("subdomain").as_string())},
                             memory_.pod_ip));
  node_.named(view_, true);
  return {};
}

Status PodDriver::refresh_volumes() {
  if (pod_.get({"spec", "volumes"}).empty()) return {};  // not even a folder for them
  return set_up_volumes(volume_root(), pod_, facts(), node_.objects);
}

bool PodDriver::fetch_tokens() {
  if (tokens_.fresh(pod_, now())) return true;
  preparing_ = true;
  tokens_.fetch(pod_, [this](const Status& came) {
    preparing_ = false;
    if (!came) prepare_again_later("FailedMount", came.error().message);
    wake();
  });
  return false;
}

// Of a pod that runs already. What cannot be renewed now is tried again in a while.
void PodDriver::renew_tokens() {
  if (memory_.stage != Stage::kSync || !memory_.prepared || tokens_.fetching()) return;
  if (renew_at_ > now() || tokens_.fresh(pod_, now())) return;
  tokens_.fetch(pod_, [this](const Status& came) {
    if (!came) renew_at_ = now() + kTokenRetry;
    const Status fresh = came ? refresh_volumes() : came;
    if (!fresh) tell(std::nullopt, true, "FailedMount", fresh.error().message);
    wake();
  });
}

// Warnings that hold for all pods of one owner (a Job) are told for the first of them.
bool PodDriver::is_first_of_owner() {
  constexpr std::size_t kMostOwners = 1'000;  // after so many they are told again
  std::string owner = view_.uid;
  for (const Value each : pod_.get({"metadata", "ownerReferences"}).items())
    owner = each.get("uid").as_string();
  if (node_.warned_owners.size() >= kMostOwners) node_.warned_owners.clear();
  return node_.warned_owners.insert(std::move(owner)).second;
}

// So that nobody believes that the image had a part in it; who writes `none` does not.
void PodDriver::warn_of_image() {
  if (!node_.images.ignored()) return;
  for (const ContainerView& container : view_.containers) {
    const bool names_none = container.image.empty() || container.image == kNoImage;
    if (names_none || container.barrier) continue;
    return tell(std::nullopt, true, std::string(api::kImageIgnored),
                fmt::format("image \"{}\" is ignored by the process runtime; the command runs with "
                            "this host's own programs",
                            container.image));
  }
}

// What the pod asks for and this machine's control groups do not give; and, for who looks for it,
// the bound that the node sets by itself.
void PodDriver::warn_of_limits() {
  const auto wanted = [this](std::string_view resource) {
    for (std::size_t i = 0; i < view_.containers.size(); ++i) {
      if (spec_of(i).get({"resources", "limits"}).has(resource)) return true;
    }
    return false;
  };
  std::vector<std::string> missing;
  std::string why;
  for (const runtime::Ability& each : node_.runtime.abilities()) {
    if (each.available) continue;
    if (each.name == runtime::kProcessLimits && node_.pod_processes > 0) {
      tell(std::nullopt, true, "ProcessesNotLimited",
           fmt::format("this node cannot enforce {}: {}", each.name, each.detail));
    }
    const bool asked = (each.name == runtime::kCpuLimits && wanted("cpu")) ||
                       (each.name == runtime::kMemoryLimits && wanted("memory"));
    if (!asked) continue;
    missing.push_back(each.name);
    why = each.detail;
  }
  if (missing.empty()) return;
  tell(std::nullopt, true, std::string(api::kLimitsNotEnforced),
       fmt::format("this node cannot enforce {}: {}", fmt::join(missing, ", "), why));
}

void PodDriver::enter_runtime() {
  const Value spec = pod_.get("spec");
  const bool host = spec.get("hostNetwork").as_bool();
  preparing_ = in_runtime_ = true;
  node_.runtime.start_pod({.uid = view_.uid,
                           .name = fmt::format("{}/{}", view_.ns, view_.name),
                           .group = trust_group_of(pod_),
                           .hostname = host ? "" : view_.hostname,
                           .hosts_file = host ? "" : node_.names.hosts_file(view_.ns),
                           .processes = node_.pod_processes,
                           .denied_devices = hides_gpus() ? node_.gpu_majors : std::vector<int>(),
                           .hidden = node_.volumes.closed},
                          lifetime_.guard([this](const Status& started) {
                            preparing_ = false;
                            if (started) {
                              memory_.prepared = true;
                              if (is_first_of_owner()) {
                                warn_of_image();
                                warn_of_limits();
                              }
                            } else {
                              prepare_again_later(
                                  "FailedCreatePodSandBox",
                                  "Failed to create pod sandbox: " + started.error().message);
                            }
                            wake();
                          }));
}

// A pod that asks for some on a node that cannot tell them apart sees all, as does any if the node
// does not care.
bool PodDriver::hides_gpus() const {
  return node_.hide_gpus && requests_of(pod_)[std::string(kGpuResource)] == 0;
}

PodFacts PodDriver::facts() {
  // Who has a token may want to know where to use it.
  std::vector<std::string> inherited = node_.environment;
  if (PodTokens::wanted(pod_))
    std::ranges::copy(node_.api_environment, std::back_inserter(inherited));
  return {.node_name = node_.node_name,
          .host_ip = node_.host_ip,
          .pod_ip = memory_.pod_ip,
          .hostname = view_.hostname,
          .node_allocatable = node_.allocatable,
          .inherited = std::move(inherited),
          .devices = hides_gpus() || !devices_.empty() ? device_environment(devices_)
                                                       : std::vector<std::string>()};
}

// Files of volumes belong to the first main container's user; others read them by their mode.
runtime::User PodDriver::volume_user() const {
  const Identity own = identity().value_or(node_.identity);
  return user_of(pod_, pod_.get({"spec", "containers"}).item(0), own).value_or(own.pod_user);
}

// The node's, with the user of the pod's JobSet if each has its own.
Result<Identity> PodDriver::identity() const {
  Identity own = node_.identity;
  if (node_.users == nullptr) return own;
  MUSTER_TRY(own.pod_user, node_.users->user_for(trust_group_of(pod_), view_.uid));
  return own;
}

Result<std::vector<runtime::Mount>> PodDriver::own_folders() const {
  if (node_.users == nullptr) return std::vector<runtime::Mount>();
  return node_.users->folders_of(trust_group_of(pod_));
}

VolumeRoot PodDriver::volume_root() {
  return {.pod_directory = node_.paths.pod(view_.uid),
          .policy = node_.volumes,
          .user = volume_user(),
          .service_account_token = [this](Value source) { return tokens_.text(source); }};
}

void PodDriver::start(std::size_t i, bool held) {
  const std::string gate = held ? gate_file() : "";
  if (held) {
    if (const Status made = node_.gates.make(gate); !made)
      return cannot_start(i, "CreateContainerError", made.error().message);
  }
  const auto own = identity();
  if (!own) return cannot_start(i, "CreateContainerConfigError", own.error().message);
  const auto folders = own_folders();
  if (!folders) return cannot_start(i, "CreateContainerError", folders.error().message);
  const bool ignored = node_.images.ignored();
  const auto image = ignored ? Image() : find_image(node_.images, view_.containers[i].image);
  if (!image) return has_no_image(i, image.error());
  const int number = memory_.containers[i].next_number;
  const runtime::RunId id{view_.uid, view_.containers[i].name, number};
  const auto spec =
      make_run_spec({.pod = pod_,
                     .container = spec_of(i),
                     .number = number,
                     .log_file = log_file(i, number),
                     .message_file = node_.messages.file(id),
                     .gate = gate,
                     .image = ignored ? nullptr : &*image,
                     .oci_program = node_.images.oci_program,
                     .folders = *folders,
                     .user_processes = node_.users == nullptr ? 0 : node_.job_set_processes},
                    facts(), node_.objects, volume_root(), *own);
  if (!spec && spec.error().code == Code::kTooLarge) return never_starts(i, held, spec.error());
  if (!spec) return cannot_start(i, "CreateContainerConfigError", spec.error().message);
  node_.messages.expect(id);
  begin_run(memory_, i, held);
  ++starts_under_way_;
  node_.runtime.start(view_.uid, *spec, lifetime_.guard([this, i, number](const Status& started) {
    --starts_under_way_;
    wake();
    if (started) return;
    const auto& run = memory_.containers[i].run;
    if (!run || run->number != number || run->started || !run->alive()) return;
    take_back_run(memory_, i);
    cannot_start(i, "CreateContainerError", started.error().message);
  }));
  tell(i, false, "Created", "Container created");
}

// The whole gang hangs on it.
void PodDriver::open_gate() {
  const Status opened = node_.gates.open(gate_file());
  if (opened) return note_gate_open(memory_);
  tell(std::nullopt, true, "Failed", "Error: " + opened.error().message);
  note_gate_shut(memory_, now() + retry_delay(kFirstRetry, kLongestRetry, failed_openings_++));
}

// As a kubelet tells it: the event has the words, the container only its reason.
void PodDriver::has_no_image(std::size_t i, const Error& why) {
  const bool absent = why.code == Code::kNotFound;
  const std::string reason = absent ? "ErrImageNeverPull" : "ImageInspectError";
  tell(i, true, absent ? reason : "InspectFailed", why.message);
  tell(i, true, "Failed", "Error: " + reason);
  note_trouble(memory_, i,
               {.reason = reason, .message = why.message, .retry = now() + kStartRetry});
}

void PodDriver::cannot_start(std::size_t i, std::string_view reason, const std::string& message) {
  tell(i, true, "Failed", "Error: " + message);
  note_trouble(memory_, i,
               {.reason = std::string(reason), .message = message, .retry = now() + kStartRetry});
}

// As if execve had refused it, without the attempt to make what it would be given: the run ends
// with StartError, and the restart policy decides what follows.
void PodDriver::never_starts(std::size_t i, bool held, const Error& why) {
  Run& run = begin_run(memory_, i, held);
  run.id = fmt::format("unstarted-{}-{}-{}", view_.uid, view_.containers[i].name, run.number);
  memory_.containers[i].trouble.reset();
  ended(i, run, {.code = runtime::kStartErrorCode, .start_error = why.message, .finished = now()});
}

void PodDriver::run_changed(const runtime::RunState& state) {
  const auto at = view_.find(state.id.container);
  Run* const run = find_run(view_, memory_, state.id.container, state.id.number);
  if (!at || run == nullptr || !run->alive()) return;
  run->id = state.container_id;
  if (state.started && !run->started) executed(*at, *run, *state.started);
  if (state.exit) ended(*at, *run, *state.exit);
  wake();
}

void PodDriver::executed(std::size_t i, Run& run, Time when) {
  run.started = when;
  run.held = false;
  memory_.containers[i].trouble.reset();
  node_.log_began(log_key(i, run.number));
  tell(i, false, "Started", "Container started");
  node_.prober.add(probe_target(i, run));
}

void PodDriver::ended(std::size_t i, Run& run, const runtime::Exit& exit) {
  run.end = end_of(i, run, exit);
  if (!exit.start_error.empty()) tell(i, true, "Failed", "Error: " + run.end->message);
  const bool by_itself = !run.stop && !view_.deleted && !exit.lost && exit.start_error.empty();
  if (exit.code != 0 && by_itself) look_for_taken_port(i, run);
  hooks_.erase(i);
  node_.prober.remove(id_of(i, run));
  node_.log_ended(log_key(i, run.number));
  // Killed because of its hook: that is why it waits for its next start.
  if (run.post_start == Hook::kFailed)
    note_trouble(
        memory_, i,
        {.reason = "PostStartHookError", .message = "PostStartHook failed", .retry = now()});
}

// A container that needs a folder of the machine which its pod does not see could not start because
// of that. Empty if it needs none.
std::string PodDriver::hint_at_hidden_folders(std::size_t i) const {
  const Value spec = spec_of(i);
  const auto is_hidden = [&](Value path) {
    return path.is_string() && node_.users != nullptr &&
           node_.users->hides(std::string(path.as_string()));
  };
  const Value command = spec.get("command");
  if (!is_hidden(spec.get("workingDir")) && !(command.size() > 0 && is_hidden(command.item(0))))
    return "";
  return "; JobSets have a /tmp of their own here: mount the machine's folder as a hostPath, or "
         "start muster serve with --shared-tmp";
}

End PodDriver::end_of(std::size_t i, const Run& run, const runtime::Exit& exit) {
  if (exit.lost)
    return {.code = 137,
            .reason = "ContainerStatusUnknown",
            .message = "The container could not be located when the pod was terminated",
            .finished = exit.finished};
  if (!exit.start_error.empty())
    return {.code = runtime::kStartErrorCode,
            .reason = "StartError",
            .message = exit.start_error + hint_at_hidden_folders(i),
            .finished = exit.finished};
  const bool from_log = exit.code != 0 && spec_of(i).get("terminationMessagePolicy").as_string() ==
                                              "FallbackToLogsOnError";
  return {.code = exit.code,
          .reason = exit.out_of_memory ? "OOMKilled"
                    : exit.code == 0   ? "Completed"
                                       : "Error",
          .message = read_last_words({.message_file = node_.messages.file(id_of(i, run)),
                                      .log_file = log_file(i, run.number),
                                      .from_log = from_log}),
          .finished = exit.finished};
}

LogKey PodDriver::log_key(std::size_t i, int number) const {
  return {view_.ns, view_.name, view_.uid, view_.containers[i].name, number};
}

std::string PodDriver::log_file(std::size_t i, int number) const {
  return node_.paths.log(log_key(i, number));
}

// Its own last words are not touched.
void PodDriver::look_for_taken_port(std::size_t i, Run& run) {
  const std::string taken =
      taken_port({.container = spec_of(i),
                  .pod_ip = memory_.pod_ip,
                  .hostname = view_.hostname,
                  .last_lines = read_tail_of_log(log_file(i, run.number), kComplaints)},
                 node_.port_users);
  if (taken.empty()) return;
  tell(i, true, "PortTaken", taken);
  if (run.end->message.empty()) run.end->message = taken;
}

ProbeTarget PodDriver::probe_target(std::size_t i, const Run& run) {
  return {.run = id_of(i, run),
          .pod_ip = memory_.pod_ip,
          .started = run.started.value_or(now()),
          .container = spec_of(i),
          .was_started = run.startup == true,
          .was_ready = run.readiness == true};
}

void PodDriver::probed(const runtime::RunId& id, ProbeKind kind, bool success) {
  Run* const run = find_run(view_, memory_, id.container, id.number);
  if (run == nullptr || !run->alive()) return;
  switch (kind) {
    case ProbeKind::kStartup:
      run->startup = success;
      break;
    case ProbeKind::kReadiness:
      run->readiness = success;
      break;
    case ProbeKind::kLiveness:
      break;
  }
  if (kind != ProbeKind::kReadiness && !success) run->unhealthy = true;
  wake();
}

void PodDriver::run_hook_of(std::size_t i, bool post_start) {
  const Run& run = *memory_.containers[i].run;
  const Value handler = spec_of(i).get({"lifecycle", post_start ? "postStart" : "preStop"});
  hooks_[i] =
      run_hook(node_.client.loop(), node_.runtime, node_.prober, handler, probe_target(i, run),
               [this, i, number = run.number, post_start](const Status& outcome,
                                                          const std::string& fallback) {
                 hook_done(i, number, post_start, outcome, fallback);
               });
}

void PodDriver::hook_done(std::size_t i, int number, bool post_start, const Status& outcome,
                          const std::string& fallback) {
  // Called by the hook itself: it goes when it has returned.
  node_.client.loop().post([hook = std::shared_ptr<HookRun>(std::move(hooks_[i]))] {});
  hooks_.erase(i);
  if (!fallback.empty()) tell(i, true, "LifecycleHTTPFallback", fallback);
  auto& run = memory_.containers[i].run;
  if (!run || run->number != number || !run->alive()) return;
  const Hook ended_as = outcome ? Hook::kDone : Hook::kFailed;
  if (post_start) {
    run->post_start = ended_as;
  } else if (run->stop) {
    run->stop->pre_stop = ended_as;
    if (!outcome) tell(i, true, "FailedPreStopHook", "PreStopHook failed");
  }
  wake();
}

}  // namespace muster::agent
