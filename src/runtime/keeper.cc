#include "runtime/keeper.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <set>

#include "base/errno_error.h"
#include "json/parse.h"
#include "json/write.h"
#include "runtime/records.h"
#include "runtime/shim.h"

namespace muster::runtime {
namespace {

using json::Value;
using namespace std::chrono_literals;

// Whoever starts a keeper connects at once; without it nobody will.
constexpr Duration kFirstAgentPatience = 30s;
constexpr int kLostCode = 137;

bool is_name(std::string_view uid) {
  return !uid.empty() && uid.size() <= 64 && std::ranges::all_of(uid, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

void answer(const UniqueFd& agent, std::string_view what, const std::string& text) {
  json::Arena arena;
  const Value message = Value::object(arena);
  message.set(what, text);
  (void)send_message(agent.get(), {json::write(message), {}});
}

}  // namespace

std::string pods_folder(const std::string& directory) { return directory + "/pods"; }

Keeper::Keeper(Loop& loop, std::string directory, UniqueFd lock, Isolation isolation,
               Cgroups cgroups)
    : loop_(loop),
      directory_(std::move(directory)),
      pods_folder_(pods_folder(directory_)),
      lock_(std::move(lock)),
      isolation_(std::move(isolation)),
      cgroups_(std::move(cgroups)) {}

Status Keeper::start() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);
  signals_ = UniqueFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  loop_.watch_readable(signals_.get(), [this] { collect(); });
  (void)identity_of(getpid());  // it reads the boot's id, for the shims that we become
  MUSTER_CHECK(load());
  MUSTER_TRY(listener_, listen_at(directory_, kKeeperSocket));
  loop_.watch_readable(listener_.get(), [this] {
    const int peer = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (peer >= 0) serve(UniqueFd(peer));
  });
  watch_directory();
  check_directory();  // it may have been deleted before
  loop_.after(kFirstAgentPatience, [this] {
    had_agent_ = true;
    end_if_idle();
  });
  return {};
}

// Shims that go on are watched; of those that are gone the pods are brought to their end.
Status Keeper::load() {
  std::error_code error;
  std::filesystem::create_directory(pods_folder_, error);
  if (error) return fail(Code::kInternal, pods_folder_ + ": " + error.message());
  spares_.emplace(pods_folder_);
  remove_stray_sockets();
  for (const std::string& uid : journals_in(pods_folder_)) {
    const PodRecord record = read_journal(pods_folder_, uid);
    if (record.pod.uid != uid) {  // its first line was never written: nothing was started
      remove_journal(pods_folder_, uid);
      continue;
    }
    Pod& pod = pods_[uid];
    pod.spec = record.pod;
    pod.shim = open_process(record.shim);
    pod.shim_pid = record.shim.pid;
    if (pod.shim.valid()) {
      watch_shim(uid);
    } else {
      bury(uid);
    }
  }
  return {};
}

// Of pods whose records are gone; whoever removed them was killed in between.
void Keeper::remove_stray_sockets() {
  std::set<std::string> known;
  for (const std::string& uid : journals_in(pods_folder_)) known.insert(shim_socket_name(uid));
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(pods_folder_, error)) {
    const bool stray = entry.is_socket(error) && !known.contains(entry.path().filename().string());
    if (stray) std::filesystem::remove(entry.path(), error);
  }
}

void Keeper::serve(UniqueFd socket) {
  had_agent_ = true;
  Agent& agent = agents_.emplace_back();
  agent = std::make_unique<Channel>(
      loop_, std::move(socket),
      Channel::Handlers{.message = [this, &agent](Message m) { handle(agent, std::move(m)); },
                        .closed = [this, &agent] { lose(agent); }});
  json::Arena arena;
  const Value hello = Value::object(arena);
  const Value abilities = hello.array_at("abilities");
  for (const Ability& each : isolation_.abilities) abilities.push_back(to_json(arena, each));
  for (const Ability& each : cgroups_.abilities()) abilities.push_back(to_json(arena, each));
  agent->send({json::write(hello), {}});
}

void Keeper::lose(const Agent& agent) {
  agents_.remove_if([&](const Agent& each) { return &each == &agent; });
  if (end_with_agent_ && agents_.empty()) end_all();
  end_if_idle();
}

void Keeper::end_all() {
  std::vector<std::string> uids;
  for (const auto& [uid, pod] : pods_) uids.push_back(uid);
  for (const std::string& uid : uids) end_pod(uid);
}

// The kernel tells of a deleted file by its number of names, while somebody has it open.
void Keeper::watch_directory() {
  deletions_ = UniqueFd(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const std::string file = directory_ + "/" + kKeeperLock;
  if (!deletions_.valid() || inotify_add_watch(deletions_.get(), file.c_str(), IN_ATTRIB) < 0) {
    return;
  }
  loop_.watch_readable(deletions_.get(), [this] { check_directory(); });
}

// Pods whose records were deleted can be adopted by nobody: they would run for ever.
void Keeper::check_directory() {
  std::array<char, 1024> events;
  while (read(deletions_.get(), events.data(), events.size()) > 0) {
  }
  struct stat lock{};
  if (fstat(lock_.get(), &lock) != 0 || lock.st_nlink > 0) return;
  records_deleted_ = true;
  end_all();
  agents_.clear();
  end_if_idle();
}

void Keeper::handle(const Agent& from, Message message) {
  json::Arena arena;
  const auto request = json::parse(arena, message.text);
  if (!request) return;
  const std::string_view what = request->get("op").as_string();
  if (what == "pod" && message.fds.size() == 1) {
    start_pod(pod_spec_from(request->get("spec")), std::move(message.fds.front()));
  } else if (what == "remove") {
    remove(from, std::string(request->get("uid").as_string()));
  } else if (what == "endWithAgent") {
    end_with_agent_ = true;
  } else if (what == "list") {
    const Value reply = Value::object(arena);
    reply.set("pods", list(arena));
    from->send({json::write(reply), {}});
  }
}

Value Keeper::list(json::Arena& arena) const {
  const Value pods = Value::array(arena);
  for (const auto& [uid, pod] : pods_) {
    const Value each = Value::object(arena);
    each.set("spec", to_json(arena, pod.spec));
    each.set("alive", Value::of(pod.state == State::kAlive));
    each.set("dying", Value::of(pod.state == State::kDying));
    pods.push_back(each);
  }
  return pods;
}

void Keeper::start_pod(const PodSpec& spec, UniqueFd agent) {
  if (!is_name(spec.uid)) return answer(agent, "error", "no uid of a pod: " + spec.uid);
  const auto known = pods_.find(spec.uid);
  if (known != pods_.end() && known->second.state == State::kAlive) {
    return answer(agent, "exists", shim_socket_name(spec.uid));
  }
  if (known != pods_.end() && known->second.state == State::kDying) {
    return answer(agent, "dying", "processes of the pod are still being ended");
  }
  const UniqueFd to_agent(fcntl(agent.get(), F_DUPFD_CLOEXEC, 0));
  if (const Status made = make_shim(spec, std::move(agent)); !made) {
    answer(to_agent, "error", made.error().message);
    if (known == pods_.end()) remove_journal(pods_folder_, spec.uid);
  }
}

Status Keeper::make_shim(const PodSpec& spec, UniqueFd agent) {
  const bool is_new = !pods_.contains(spec.uid);
  if (is_new) spares_->use_for(journal_file(pods_folder_, spec.uid));
  MUSTER_TRY(Journal journal, Journal::open(pods_folder_, spec.uid));
  MUSTER_CHECK(journal.add(spec));
  const std::uint64_t seed = rng_.next();
  UniqueFd shim;
  const pid_t pid = clone_process(0, shim);
  if (pid == 0) {
    run_shim({spec, is_new, pods_folder_, isolation_.namespaces, cgroups_, seed},
             std::move(journal), std::move(agent));
  }
  if (pid < 0) {
    return errno_error("cannot make a process");
  }
  Pod& pod = pods_[spec.uid];
  pod.spec = spec;
  pod.state = State::kAlive;
  pod.shim = std::move(shim);
  pod.shim_pid = pid;
  watch_shim(spec.uid);
  return {};
}

void Keeper::watch_shim(const std::string& uid) {
  loop_.watch_readable(pods_.at(uid).shim.get(), [this, uid] {
    Pod& pod = pods_.at(uid);
    loop_.unwatch(pod.shim.get());
    pod.shim = {};
    waitpid(pod.shim_pid, nullptr, WNOHANG);  // unless an earlier keeper was its parent
    bury(uid);
  });
}

void Keeper::remove(const Agent& from, const std::string& uid) {
  if (pods_.contains(uid)) return end_pod(uid);
  json::Arena arena;
  const Value reply = Value::object(arena);
  reply.set("removed", uid);
  from->send({json::write(reply), {}});
}

// An agent asks only when all runs have exited: then nothing is cut short.
void Keeper::end_pod(const std::string& uid) {
  Pod& pod = pods_.at(uid);
  pod.removing = true;
  if (pod.state == State::kAlive) (void)kill_process(pod.shim, SIGKILL);
  if (pod.state == State::kDead) forget(uid);
}

// The shim is gone. Its runs are dying with it; only when that is certain is it told.
void Keeper::bury(const std::string& uid) {
  Pod& pod = pods_.at(uid);
  pod.state = State::kDying;
  for (const auto& [id, run] : read_journal(pods_folder_, uid).runs) {
    if (run.state.phase == RunPhase::kExited) continue;
    UniqueFd init = open_process(run.process);
    if (!init.valid()) continue;
    (void)kill_process(init, SIGKILL);
    const int fd = init.get();
    pod.dying.emplace(fd, std::move(init));
    loop_.watch_readable(fd, [this, uid, fd] {
      loop_.unwatch(fd);
      pods_.at(uid).dying.erase(fd);
      finish_burial(uid);
    });
  }
  finish_burial(uid);
}

void Keeper::finish_burial(const std::string& uid) {
  Pod& pod = pods_.at(uid);
  if (!pod.dying.empty() || (orphans_are_possible() && kill_orphans())) return;
  cgroups_.remove_pod(uid);
  if (records_deleted_) {  // no new file where somebody is deleting a folder
    pods_.erase(uid);
    return end_if_idle();
  }
  if (pod.removing) return forget(uid);
  const PodRecord record = read_journal(pods_folder_, uid);
  Result<Journal> journal = Journal::open(pods_folder_, uid);
  for (auto [id, run] : record.runs) {
    if (run.state.phase == RunPhase::kExited || !journal) continue;
    run.state.phase = RunPhase::kExited;
    run.state.exit = Exit{.code = kLostCode, .lost = true, .finished = loop_.clock().now()};
    (void)journal->add(run);
  }
  pod.state = State::kDead;
  tell("gone", uid);
  end_if_idle();
}

void Keeper::forget(const std::string& uid) {
  unlink((pods_folder_ + "/" + shim_socket_name(uid)).c_str());  // before nobody knows of it
  spares_->keep(journal_file(pods_folder_, uid));
  pods_.erase(uid);
  tell("removed", uid);
  end_if_idle();
}

void Keeper::tell(std::string_view what, const std::string& uid) {
  json::Arena arena;
  const Value message = Value::object(arena);
  message.set(what, uid);
  for (const Agent& agent : agents_) agent->send({json::write(message), {}});
}

void Keeper::collect() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGTERM) asked_to_end_ = true;
  }
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  if (asked_to_end_) end_if_idle();
  if (!orphans_are_possible()) return;
  std::vector<std::string> dying;
  for (const auto& [uid, pod] : pods_) {
    if (pod.state == State::kDying) dying.push_back(uid);
  }
  for (const std::string& uid : dying) finish_burial(uid);
}

// What outlives a killed shim becomes our child: without PID namespaces any process of the pod,
// with them its runs' inits, which are known from the records unless those are gone.
bool Keeper::orphans_are_possible() const {
  return !isolation_.namespaces.runs || records_deleted_;
}

// True if there was any: it may have made more meanwhile.
bool Keeper::kill_orphans() {
  std::set<pid_t> shims;
  for (const auto& [uid, pod] : pods_) {
    if (pod.state == State::kAlive) shims.insert(pod.shim_pid);
  }
  return kill_children_but(shims);
}

void Keeper::end_if_idle() {
  const bool needed = !asked_to_end_ && !records_deleted_ && (!had_agent_ || !agents_.empty());
  const bool idle = !needed && std::ranges::all_of(pods_, [](const auto& each) {
    return each.second.state == State::kDead;
  });
  if (!idle) return;
  unlink((directory_ + "/" + kKeeperSocket).c_str());
  loop_.stop();
}

}  // namespace muster::runtime
