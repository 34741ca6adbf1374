// One pod on this node, from its binding until nothing of it is left: asks the machine
// (lifecycle/machine.h) what is next and does it.
//
// Used on one loop. Everything that is heard wakes it; between two things that happen it does
// nothing and has no timer but the one that the machine asked for.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "agent/hooks.h"
#include "agent/inputs/names.h"
#include "agent/lifecycle/machine.h"
#include "agent/lifecycle/recall.h"
#include "agent/node_services.h"
#include "agent/pod_tokens.h"
#include "agent/references.h"
#include "agent/status_writer.h"
#include "base/lifetime.h"
#include "client/informer.h"

namespace muster::agent {

class PodDriver {
 public:
  // `adopted` is what the runtime found of it; null if nothing.
  PodDriver(NodeServices& node, const client::ObjectPtr& object,
            const runtime::Runtime::Adopted* adopted);
  ~PodDriver();
  PodDriver(const PodDriver&) = delete;

  void begin(std::vector<std::string> devices);  // the node takes it
  void reject(Verdict why);                      // the node does not

  void seen(const client::ObjectPtr& object);  // a newer version
  void object_gone();
  void object_changed();  // one that it refers to
  void run_changed(const runtime::RunState& state);
  void probed(const runtime::RunId& run, ProbeKind kind, bool success);
  void tell(std::optional<std::size_t> container, bool warning, std::string reason,
            std::string message);

  const PodView& view() const { return view_; }
  const std::set<Reference>& references() const { return references_; }
  std::optional<runtime::RunId> running(std::string_view container) const;
  std::vector<runtime::RunId> alive_runs() const;

 private:
  void parse(std::string_view bytes, store::Revision revision);
  void wake();
  void step();
  void set_timer(std::optional<Time> when);
  void carry_out(const Action& action);

  // Before the first container: address, folders, volumes, a home for its processes.
  void prepare();
  void prepare_again_later(std::string_view reason, const std::string& message);
  void never_prepared(const std::string& message);
  Status make_directory_of_pod();  // with the note of its devices
  Status take_address();
  Status refresh_volumes();
  bool fetch_tokens();  // false: under way
  void renew_tokens();
  std::optional<Time> token_renewal() const;
  void enter_runtime();
  bool hides_gpus() const;
  PodFacts facts();
  VolumeRoot volume_root();
  Result<Identity> identity() const;
  // Instead of the machine's /tmp and the like, where its JobSet has its own (group_folders.h).
  Result<std::vector<runtime::Mount>> own_folders() const;
  runtime::User volume_user() const;
  bool is_first_of_owner();
  void warn_of_image();
  void warn_of_limits();

  void start(std::size_t container, bool held);
  void cannot_start(std::size_t container, std::string_view reason, const std::string& message);
  void never_starts(std::size_t container, bool held, const Error& why);
  void has_no_image(std::size_t container, const Error& why);
  void executed(std::size_t container, Run& run, Time when);
  void ended(std::size_t container, Run& run, const runtime::Exit& exit);
  End end_of(std::size_t container, const Run& run, const runtime::Exit& exit);
  std::string hint_at_hidden_folders(std::size_t container) const;
  void look_for_taken_port(std::size_t container, Run& run);
  LogKey log_key(std::size_t i, int number) const;
  std::string log_file(std::size_t i, int number) const;
  ProbeTarget probe_target(std::size_t container, const Run& run);
  void run_hook_of(std::size_t container, bool post_start);
  void hook_done(std::size_t container, int number, bool post_start, const Status& outcome,
                 const std::string& fallback);
  void note_barrier();
  void note_count(json::Value config_map);
  void open_gate();
  std::string gate_file() const;

  void report();
  Duration report_delay() const;
  json::Value status_patch_now(json::Arena& arena);
  bool all_is_told();
  void wind_up();
  void leave_runtime();
  void delete_object();
  void retire();

  runtime::RunId id_of(std::size_t container, const Run& run) const;
  Time now() const { return node_.client.loop().clock().now(); }
  json::Value spec_of(std::size_t container) const;

  NodeServices& node_;
  std::unique_ptr<json::Arena> arena_;
  json::Value pod_;  // of the newest version
  store::Revision revision_ = 0;
  PodView view_;
  PodMemory memory_;
  std::set<Reference> references_;
  std::vector<std::string> devices_;  // GPUs
  PodTokens tokens_;
  Time renew_at_{};  // not before
  StatusWriter writer_;
  TimerId timer_ = TimerId::kNone;
  bool wake_posted_ = false;
  bool rejected_ = false;

  bool preparing_ = false;
  bool volumes_stale_ = false;      // an object that they are made of has changed
  std::optional<Time> prepare_at_;  // the last attempt failed
  int failed_preparations_ = 0;
  int failed_openings_ = 0;
  bool in_runtime_ = false;
  bool leaving_runtime_ = false;
  bool released_ = false;
  bool deleting_ = false;
  bool retired_ = false;
  bool only_readiness_ = false;
  int starts_under_way_ = 0;
  bool at_barrier_ = false;                                // its barrier container runs
  std::map<std::size_t, std::unique_ptr<HookRun>> hooks_;  // by container
  Lifetime lifetime_;
};

}  // namespace muster::agent
