// Runs the containers of pods on this machine and tells how they end. It knows no API objects: what
// a container needs has been decided and prepared by the agent.
//
// A pod's processes outlive the one that started them. Whoever opens the same directory later finds
// them again (adopt), with every exit that happened in between.
//
// Used on one loop; replies and events come there too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop.h"
#include "base/result.h"
#include "base/time.h"

namespace muster::runtime {

struct Mount {
  std::string source;  // a path on the host that has been checked; links in it are refused
  std::string target;  // absolute, as the container sees it
  bool read_only = false;
  bool as_user = false;  // the source must be reachable for the run's user by himself
};

struct User {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;

  bool has_group(std::uint32_t group) const {
    return group == gid || std::ranges::find(groups, group) != groups.end();
  }
};

struct Limits {
  std::optional<std::int64_t> cpu_millis;
  std::optional<std::int64_t> memory_bytes;
};

struct PodSpec {
  std::string uid;
  std::string name;            // what people call it: namespace and name
  std::string group = {};      // pods of one JobSet; groups take turns when many pods start
  std::string hostname;        // empty: the machine's
  std::string hosts_file;      // seen as /etc/hosts, this very file; empty: the machine's
  std::int64_t processes = 0;  // so many at most, threads too, where it can be had; 0: any number
  // Character devices, by their major numbers, that its processes cannot open, where that can be
  // had.
  std::vector<int> denied_devices = {};
  // Folders of the machine, canonical, that it finds empty, where there are mount namespaces.
  std::vector<std::string> hidden = {};
};

// One run of a container. A new run has a new number.
struct RunId {
  std::string pod_uid;
  std::string container;
  int number = 0;
  auto operator<=>(const RunId&) const = default;
};

struct RunSpec {
  std::string container;
  int number = 0;
  std::vector<std::string> argv;         // argv[0] is looked up in the PATH of `environment`
  std::vector<std::string> environment;  // NAME=value, complete
  // Empty: that of the server, or HOME where its user cannot enter that, or /.
  std::string working_directory;
  std::vector<Mount> mounts;
  std::optional<User> user;  // empty: that of the server
  // The most processes and threads of that user, those of other runs included; 0: any number.
  std::int64_t user_processes = 0;
  Limits limits;
  bool read_only_root = false;
  // A folder that is its root instead of the machine's, and the OCI runtime (crun, runc) that makes
  // it so (docs/oci.md). Working directory and user are those inside. Empty: the machine's.
  std::string rootfs;
  std::string oci_program;
  // Lines with time and stream (docs/logs.md); rotated; made, as its folder, with the first one, or
  // before the gate opens.
  std::string log_file;
  std::string termination_log;       // shown as termination_log_path; emptied before the run
  std::string termination_log_path;  // as the container sees it
  // The process is made ready and held before its exec until the gate is open (gate.h). Empty: not.
  std::string gate;
};

// kHeld: not executed yet, be it that its gate is shut or that it is still being made ready.
enum class RunPhase : std::uint8_t { kHeld, kRunning, kExited };

// The exit code of what could not be started.
inline constexpr int kStartErrorCode = 128;

// Where programs are looked for if nobody says.
inline constexpr std::string_view kDefaultPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

struct Exit {
  int code = 0;  // 128 + signal if it was killed
  int signal = 0;
  bool out_of_memory = false;
  bool lost = false;        // it ran and is gone, and nobody knows how it ended
  std::string start_error;  // why it could not be started: never ran
  Time finished{};
};

struct RunState {
  RunId id;
  std::string container_id;  // one per run, unique for ever
  RunPhase phase = RunPhase::kRunning;
  std::optional<Time> started;  // when its program was executed
  std::optional<Exit> exit;     // with kExited
};

// A command beside the container's own processes, in its namespaces and with its environment.
struct ExecSpec {
  RunId run;
  std::vector<std::string> argv;
  bool tty = false;
  bool with_input = false;
};
// None is called inside of Runtime::exec() or Exec::input().
struct ExecEvents {
  std::function<void(bool is_error, std::string_view bytes)> output;
  // So many bytes of input() were written to the command, or thrown away since it wants no more.
  std::function<void(std::size_t bytes)> input_taken;
  std::function<void(Result<int> exit_code)> end;  // once, after all output
};
class Exec {
 public:
  virtual ~Exec() = default;  // SIGHUP to it if it still runs; end is not called any more
  virtual void input(std::string_view bytes) = 0;
  virtual void end_input() = 0;
  virtual void resize(int columns, int rows) = 0;
  virtual void pause_output(bool paused) = 0;  // while paused, `end` waits too
  virtual void kill() = 0;                     // it and its process group; `end` follows
};

// What this machine lets us do, found out once; for the Node's conditions and `muster doctor`.
struct Ability {
  std::string name;  // "pid namespaces", "private /etc/hosts", one of those below …
  bool available = false;
  std::string detail;  // how, or why not and what to do about it
};

// Names of those that others ask for.
inline constexpr std::string_view kCpuLimits = "cpu limits";
inline constexpr std::string_view kMemoryLimits = "memory limits";
inline constexpr std::string_view kProcessLimits = "process limits";
inline constexpr std::string_view kDeviceRules = "device rules";
inline constexpr std::string_view kPrivateRoot = "private root";
inline constexpr std::string_view kMountNamespaces = "mount namespaces";

class Runtime {
 public:
  virtual ~Runtime() = default;  // the pods go on

  using Done = std::move_only_function<void(Status)>;

  // A run is held at its gate, was executed or has exited. Set before anything is started or
  // adopted.
  virtual void on_change(std::function<void(const RunState&)> changed) = 0;

  virtual void start_pod(const PodSpec& pod, Done done) = 0;
  // Succeeds when the run is recorded and on its way; how it goes is told by on_change. Starting a
  // run again that is known already changes nothing.
  virtual void start(const std::string& pod_uid, const RunSpec& run, Done done) = 0;
  virtual void signal(const RunId& run, int number) = 0;  // to its main process only
  virtual void kill(const RunId& run) = 0;                // all of its processes, at once
  // When all its runs have exited (else kConflict). Nothing of it is left then but what the agent
  // made.
  virtual void remove_pod(const std::string& pod_uid, Done done) = 0;
  virtual std::unique_ptr<Exec> exec(const ExecSpec& spec, ExecEvents events) = 0;

  // Pods of an earlier agent of this directory, with the last known state of each run.
  struct Adopted {
    PodSpec pod;
    std::vector<RunState> runs;
  };
  virtual void adopt(std::function<void(std::vector<Adopted>)> done) = 0;

  virtual const std::vector<Ability>& abilities() const = 0;
};

struct RuntimeOptions {
  std::string directory;   // for sockets and records, mode 0700
  bool namespaces = true;  // false: plain process groups even where the kernel allows more
  // The pods are killed and removed as soon as this runtime is gone, however that happens.
  bool end_with_agent = false;
  // How long adopt() waits for pods whose shims do not answer. Then it tells what their records
  // say.
  Duration adopt_patience = std::chrono::seconds(5);
  // How to start the process that keeps the pods (keeper_main.h); the directory is appended.
  std::vector<std::string> keeper_argv = {"/proc/self/exe", "keeper"};
};
// Starts the keeper of the directory, or finds the one that runs; may take some tens of
// milliseconds. One runtime per directory at a time.
Result<std::unique_ptr<Runtime>> make_process_runtime(Loop& loop, RuntimeOptions options);

}  // namespace muster::runtime
