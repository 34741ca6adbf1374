#include "agent/agent.h"

#include <algorithm>
#include <tuple>

#include "api/views/pod_phase.h"
#include "json/parse.h"

namespace muster::agent {
namespace {

using json::Value;

// What events name as their source; people and tools look for it.
constexpr std::string_view kComponent = "kubelet";

client::ListOptions pods_of(const std::vector<NodeShare>& shares) {
  // Those of several nodes are sorted out here; unbound ones need not come at all.
  return {.field_selector =
              shares.size() == 1 ? "spec.nodeName=" + shares[0].name : "spec.nodeName!="};
}

bool is_over(Value pod) { return api::is_end_phase(pod.get({"status", "phase"}).as_string()); }

}  // namespace

Agent::Agent(client::Client& client, const api::Registry& registry, runtime::Runtime& runtime,
             Names& names, AgentOptions options)
    : client_(client),
      runtime_(runtime),
      names_(names),
      options_(std::move(options)),
      paths_{options_.data_directory},
      pods_kind_(*registry.find("", "v1", "pods")),
      registry_(registry),
      objects_(client, registry, options_.ca_pem),
      gates_(paths_.gates()),
      messages_(paths_.messages()),
      port_users_(client.loop().clock(), options_.port_users),
      pods_(client, pods_kind_, pods_of(share_out(options_.facts, options_.nodes))) {
  const auto find = [this](const std::string& uid) -> PodDriver* {
    const auto at = drivers_.find(uid);
    return at == drivers_.end() ? nullptr : at->second.get();
  };
  prober_ =
      Prober::make(client.loop(), runtime,
                   {.verdict =
                        [find](const runtime::RunId& run, ProbeKind kind, bool success) {
                          if (PodDriver* const pod = find(run.pod_uid))
                            pod->probed(run, kind, success);
                        },
                    .event =
                        [find](const runtime::RunId& run, std::string reason, std::string message) {
                          PodDriver* const pod = find(run.pod_uid);
                          if (pod != nullptr)
                            pod->tell(pod->view().find(run.container), true, std::move(reason),
                                      std::move(message));
                        }});
  for (NodeShare& share : share_out(options_.facts, options_.nodes)) make_node(std::move(share));
}

Agent::~Agent() = default;

void Agent::make_node(NodeShare share) {
  auto node = std::make_unique<Node>(share.gpus);
  const std::string name = share.name;
  node->events = controllers::make_event_recorder(client_, registry_, std::string(kComponent),
                                                  controllers::EventRecorder::Form::kCore, name);
  node->services = std::make_unique<NodeServices>(
      NodeServices{.client = client_,
                   .pods = pods_kind_,
                   .accounts = *registry_.find("", "v1", "serviceaccounts"),
                   .runtime = runtime_,
                   .names = names_,
                   .prober = *prober_,
                   .objects = objects_,
                   .gates = gates_,
                   .messages = messages_,
                   .port_users = port_users_,
                   .events = *node->events,
                   .paths = paths_,
                   .identity = options_.identity,
                   .users = options_.users,
                   .job_set_processes = options_.job_set_processes,
                   .volumes = {.claims_directory = paths_.claims(),
                               .host_paths = options_.host_paths,
                               .closed = options_.hidden},
                   .images = options_.images,
                   .pod_processes = options_.pod_processes,
                   .hide_gpus = options_.hide_gpus,
                   .gpu_majors = options_.facts.gpu_majors,
                   .backoff = options_.backoff,
                   .node_name = name,
                   .host_ip = options_.facts.address,
                   .allocatable = write_resources(arena_, share.resources),
                   .environment = options_.environment,
                   .api_environment = options_.api_environment,
                   .warned_owners = {},
                   .log_began = options_.log_began,
                   .log_ended = options_.log_ended,
                   .named = [this](const PodView& pod, bool known) { named(pod, known); },
                   .is_named =
                       [this](const std::string& ns, const std::string& host) {
                         return hosts_.contains({ReferenceKind::kHost, ns, host});
                       },
                   .released = [this](const std::string& uid) { released(uid); },
                   .retired = [this](const std::string& uid, bool gone) { retired(uid, gone); }});
  node->keeper = std::make_unique<NodeKeeper>(client_, registry_, options_.facts,
                                              runtime_.abilities(), std::move(share));
  nodes_.emplace(name, std::move(node));
}

void Agent::start() {
  runtime_.on_change([this](const runtime::RunState& state) { run_changed(state); });
  runtime_.adopt(lifetime_.guard([this](std::vector<runtime::Runtime::Adopted> found) {
    adopted_.emplace();
    for (runtime::Runtime::Adopted& pod : found) {
      const std::string uid = pod.pod.uid;
      adopted_->emplace(uid, std::move(pod));
    }
    begin_if_all_is_known();
  }));
  for (const auto& [name, node] : nodes_) node->keeper->start();
  objects_.on_change([this](const Reference& reference, const client::ObjectPtr& gone) {
    object_changed(reference, gone);
  });
  objects_.start([this] {
    objects_known_ = true;
    begin_if_all_is_known();
  });
  pods_.on_change([this](const auto& before, const auto& after) { changed(before, after); });
  pods_.start();
  pods_.on_synced([this] {
    pods_known_ = true;
    begin_if_all_is_known();
  });
}

// Nothing is started and nothing killed on half of the truth (pod-lifecycle 9 f).
void Agent::begin_if_all_is_known() {
  if (began_ || closing_ || !adopted_ || !objects_known_ || !pods_known_) return;
  began_ = true;
  begin();
}

void Agent::begin() {
  std::set<std::string> found;
  for (const auto& [uid, pod] : *adopted_) found.insert(uid);
  messages_.discard_all_but(found);
  std::vector<client::ObjectPtr> pods;
  for (const auto& [key, pod] : pods_.objects()) pods.push_back(pod);
  // Those that run hold their room before anybody new is looked at; then first come, first served.
  std::ranges::sort(pods, {}, [this](const client::ObjectPtr& pod) {
    return std::tuple(!adopted_->contains(pod->meta().uid), pod->meta().creation_time,
                      pod->revision());
  });
  for (const client::ObjectPtr& pod : pods) take(pod);
  options_.logs_known();
  end_orphans();
  // Which group an orphan belongs to is not known; the next agent sees that it is gone.
  if (options_.users != nullptr && orphans_.empty()) options_.users->release_unused();
  names_.settle();
  remove_unknown_folders();
  gates_.remove_unused();
}

void Agent::changed(const client::ObjectPtr& before, const client::ObjectPtr& after) {
  if (!began_ || closing_) return;
  if (!after) return forget(before);
  // A pod of the same name that follows another at once is seen as a change of it.
  if (before && before->meta().uid != after->meta().uid) forget(before);
  const auto driver = drivers_.find(after->meta().uid);
  driver != drivers_.end() ? driver->second->seen(after) : take(after);
}

void Agent::take(const client::ObjectPtr& object) {
  json::Arena arena;
  const Value pod = *json::parse(arena, object->bytes());
  const auto at = nodes_.find(std::string(pod.get({"spec", "nodeName"}).as_string()));
  if (at == nodes_.end()) return;
  Node& node = *at->second;
  const std::string& uid = object->meta().uid;
  const auto found = adopted_->find(uid);
  const bool adopted = found != adopted_->end();
  if (options_.users != nullptr) options_.users->keep(trust_group_of(pod), uid);
  // Nothing is left to do for those that are over, but for those that wait to be removed.
  if (is_over(pod) && !adopted && !object->meta().deletion_time) return;
  auto driver =
      std::make_unique<PodDriver>(*node.services, object, adopted ? &found->second : nullptr);
  for (const Reference& reference : driver->references()) wanted_by_[reference].insert(uid);
  PodDriver& taken = *drivers_.emplace(uid, std::move(driver)).first->second;
  const Amounts wants = requests_of(pod);
  if (adopted) {
    adopted_->erase(found);
    auto devices = read_devices(paths_.pod(uid));
    node.devices.take_again(uid, devices);
    add(node.used, wants);
    held_[uid] = {&node, wants};
    taken.begin(std::move(devices));
  } else if (is_over(pod) || object->meta().deletion_time) {
    taken.begin({});
  } else {
    take_new(node, taken, wants);
  }
}

void Agent::take_new(Node& node, PodDriver& driver, const Amounts& wants) {
  const std::string& uid = driver.view().uid;
  const NodeShare& share = node.keeper->share();
  if (auto why = refusal(wants, node.used, share.resources)) return driver.reject(*std::move(why));
  const auto gpus = wants.find(std::string(kGpuResource));
  std::vector<std::string> devices;
  if (gpus != wants.end() && share.resources.contains(gpus->first) && !share.gpus.empty()) {
    auto given = node.devices.take(uid, static_cast<std::size_t>(gpus->second));
    if (!given)
      return driver.reject({.reason = "UnexpectedAdmissionError",
                            .message = "Allocate failed due to too few free devices, which is "
                                       "unexpected"});
    devices = *std::move(given);
  }
  add(node.used, wants);
  held_[uid] = {&node, wants};
  driver.begin(std::move(devices));
}

void Agent::forget(const client::ObjectPtr& object) {
  const api::Meta& meta = object->meta();
  const auto driver = drivers_.find(meta.uid);
  if (driver != drivers_.end()) return driver->second->object_gone();
  dispose(meta.ns, meta.name, meta.uid);
}

void Agent::dispose(const std::string& ns, const std::string& name, const std::string& uid) {
  if (options_.users != nullptr) options_.users->drop(uid);
  disposal_.remove_pod(paths_.pod(uid));
  disposal_.remove_logs(paths_.pod_logs(ns, name, uid));
}

void Agent::object_changed(const Reference& reference, const client::ObjectPtr& gone) {
  // What went before the beginning is swept up there.
  if (gone && reference.kind == ReferenceKind::kClaim && began_)
    disposal_.remove_claim(paths_.claim(reference.ns, reference.name, gone->meta().uid));
  const auto at = wanted_by_.find(reference);
  if (at == wanted_by_.end()) return;
  for (const std::string& uid : at->second) drivers_.at(uid)->object_changed();
}

void Agent::run_changed(const runtime::RunState& state) {
  const auto driver = drivers_.find(state.id.pod_uid);
  if (driver != drivers_.end()) {
    driver->second->run_changed(state);
  } else if (adopted_ && !began_ && !closing_) {
    // It ended between being found and being taken.
    const auto found = adopted_->find(state.id.pod_uid);
    if (found == adopted_->end()) return;
    for (runtime::RunState& run : found->second.runs) {
      if (run.id == state.id) run = state;
    }
  } else if (state.exit) {
    orphan_run_ended(state.id);
  }
}

void Agent::named(const PodView& pod, bool known) {
  if (pod.host.empty()) return;
  const Reference host{ReferenceKind::kHost, pod.ns, pod.host};
  if (!known) {
    const auto at = hosts_.find(host);
    if (at != hosts_.end() && at->second.erase(pod.uid) > 0 && at->second.empty()) hosts_.erase(at);
  } else if (hosts_[host].insert(pod.uid).second) {
    object_changed(host, nullptr);
  }
}

void Agent::released(const std::string& uid) {
  const auto held = held_.find(uid);
  if (held == held_.end()) return;
  for (const auto& [name, amount] : held->second.amounts) held->second.node->used[name] -= amount;
  held->second.node->devices.give_back(uid);
  held_.erase(held);
}

// Called by the driver itself: it goes when it has returned.
void Agent::retired(const std::string& uid, bool object_gone) {
  client_.loop().post(lifetime_.guard([this, uid, object_gone] {
    const auto driver = drivers_.find(uid);
    if (driver == drivers_.end()) return;
    const PodView& view = driver->second->view();
    // It may have gone while its driver was on its way out.
    const client::ObjectPtr there = pods_.find(view.ns, view.name);
    if (object_gone || !there || there->meta().uid != uid) dispose(view.ns, view.name, uid);
    for (const Reference& reference : driver->second->references()) {
      const auto wanted = wanted_by_.find(reference);
      wanted->second.erase(uid);
      if (wanted->second.empty()) wanted_by_.erase(wanted);
    }
    drivers_.erase(driver);
  }));
}

std::optional<runtime::RunId> Agent::running(const std::string& uid,
                                             std::string_view container) const {
  const auto driver = drivers_.find(uid);
  return driver == drivers_.end() ? std::nullopt : driver->second->running(container);
}

}  // namespace muster::agent
