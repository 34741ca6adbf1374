// What a pod costs from start_pod to remove_pod, beside a bare loop that sets up the same
// namespaces; and how fast a gate lets many held pods through, beside bare processes at such a
// gate.
//
//   pods_bench pods [COUNT] [AT ONCE] [plain|token]    token: with a service account's volume
//   pods_bench gate [COUNT]
//
// TMPDIR says where: on ext4 much of a pod's cost is that of files made where many were deleted.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/clock.h"
#include "base/loop.h"
#include "runtime/gate.h"
#include "runtime/keeper_main.h"
#include "runtime/launch.h"
#include "runtime/runtime.h"

namespace muster::runtime {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

double own_cpu(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto of = [](const timeval& t) { return double(t.tv_sec) + double(t.tv_usec) / 1e6; };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

// Processor time of the keeper and of all that it has collected, shims and their pods included.
double keeper_cpu(const std::string& directory) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream comm(entry.path() / "comm"), command(entry.path() / "cmdline");
    std::string name, line;
    std::getline(comm, name);
    std::getline(command, line);
    if (name != "muster-keeper" || line.find(directory) == std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    std::istringstream rest(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) rest >> skipped;
    double user = 0, system = 0, children_user = 0, children_system = 0;
    rest >> user >> system >> children_user >> children_system;
    return (user + system + children_user + children_system) / double(sysconf(_SC_CLK_TCK));
  }
  return 0;
}

std::string make_directory() {
  std::string name = std::filesystem::temp_directory_path() / "muster-bench-XXXXXX";
  return mkdtemp(name.data());
}

struct Bench {
  explicit Bench(bool namespaces) {
    directory = make_directory();
    auto made = make_process_runtime(
        *loop, {.directory = directory + "/runtime", .namespaces = namespaces});
    if (!made) {
      fmt::print(stderr, "{}\n", made.error().message);
      std::exit(1);
    }
    runtime = std::move(*made);
  }
  ~Bench() {
    runtime.reset();
    std::filesystem::remove_all(directory);
  }
  PodSpec pod(int number) {
    const std::string uid = fmt::format("pod-{}", number);
    std::filesystem::create_directory(directory + "/" + uid);
    return {.uid = uid, .hostname = uid, .hosts_file = "/etc/hosts"};
  }
  RunSpec run(int number, std::vector<std::string> argv, std::string gate) {
    const std::string folder = fmt::format("{}/pod-{}", directory, number);
    return {.container = "main",
            .argv = std::move(argv),
            .environment = {"PATH=/usr/bin:/bin"},
            .working_directory = "/",
            .mounts = mounts,
            .log_file = folder + "/0.log",
            .termination_log = folder + "/termination",
            .termination_log_path = "/dev/termination-log",
            .gate = std::move(gate)};
  }
  void start(int number, std::vector<std::string> argv, std::string gate = {}) {
    const PodSpec spec = pod(number);
    runtime->start_pod(spec, [](Status) {});
    runtime->start(spec.uid, run(number, std::move(argv), std::move(gate)), [](Status status) {
      if (!status) fmt::print(stderr, "{}\n", status.error().message);
    });
  }

  std::string directory;
  std::vector<Mount> mounts;
  std::unique_ptr<Loop> loop = make_real_loop();
  std::unique_ptr<Runtime> runtime;
};

void measure_pods(int count, int at_once, bool namespaces, bool token) {
  Bench bench(namespaces);
  const std::string token_folder = bench.directory + "/token";
  std::filesystem::create_directory(token_folder);
  if (token) {
    bench.mounts.push_back({token_folder, "/var/run/secrets/kubernetes.io/serviceaccount", true});
  }
  int started = 0, removed = 0, failed = 0;
  const auto next = [&] {
    if (started < count) bench.start(started++, {"/bin/true"});
  };
  bench.runtime->on_change([&](const RunState& state) {
    if (state.phase != RunPhase::kExited) return;
    if (state.exit->code != 0) ++failed;
    bench.runtime->remove_pod(state.id.pod_uid, [&](Status) {
      if (++removed == count) bench.loop->stop();
      next();
    });
  });
  const double agent_before = own_cpu(RUSAGE_SELF);
  const double keeper_before = keeper_cpu(bench.directory);
  const Duration begin = monotonic_now();
  for (int i = 0; i < at_once; ++i) next();
  bench.loop->run();
  const double elapsed = seconds(monotonic_now() - begin);
  const double agent = own_cpu(RUSAGE_SELF) - agent_before;
  const double keeper = keeper_cpu(bench.directory) - keeper_before;
  fmt::print(
      "{} pods, {} at once{}{}: {:.0f} pods/s; processor {:.2f} ms per pod ({:.2f} agent, "
      "{:.2f} keeper, shims and programs); {} failed\n",
      count, at_once, namespaces ? "" : ", plain", token ? ", token" : "", count / elapsed,
      (agent + keeper) / count * 1e3, agent / count * 1e3, keeper / count * 1e3, failed);
}

// The least that such a pod can cost: its namespaces, its /proc, its program.
void measure_bare(int count, int at_once, bool namespaces) {
  const double before = own_cpu(RUSAGE_CHILDREN) + own_cpu(RUSAGE_SELF);
  const Duration begin = monotonic_now();
  for (int i = 0, running = 0; i < count || running > 0;) {
    if (i < count && running < at_once) {
      UniqueFd handle;
      const std::uint64_t flags =
          namespaces ? CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC : 0;
      if (clone_process(flags, handle) == 0) {
        if (namespaces) {
          mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr);
          mount("proc", "/proc", "proc", 0, nullptr);
          mount("/etc/hosts", "/etc/hosts", nullptr, MS_BIND, nullptr);
        }
        execl("/bin/true", "true", nullptr);
        _exit(1);
      }
      ++i;
      ++running;
      continue;
    }
    if (wait(nullptr) > 0) --running;
  }
  const double elapsed = seconds(monotonic_now() - begin);
  const double cpu = own_cpu(RUSAGE_CHILDREN) + own_cpu(RUSAGE_SELF) - before;
  fmt::print("bare loop{}: {:.0f}/s; processor {:.2f} ms each\n", namespaces ? "" : ", plain",
             count / elapsed, cpu / count * 1e3);
}

double in_ms(Duration duration) { return seconds(duration) * 1e3; }

const std::vector<std::string> kProgram = {"/bin/sleep", "1000"};

// A parent that knows of each child's exec by the end of a pipe, as a shim does.
double bare_gate(int count) {
  const std::string directory = make_directory();
  const std::string gate = directory + "/gate";
  (void)make_gate(gate);
  std::vector<pid_t> children;
  std::vector<int> pipes;
  for (int i = 0; i < count; ++i) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return 0;
    const pid_t child = fork();
    if (child == 0) {
      const auto* mapped = map_gate(gate.c_str());
      (void)!write(ends[1], "h", 1);
      wait_at_gate(*mapped);
      execl(kProgram[0].c_str(), "sleep", kProgram[1].c_str(), nullptr);
      _exit(1);
    }
    close(ends[1]);
    children.push_back(child);
    pipes.push_back(ends[0]);
    char byte = 0;
    (void)!read(ends[0], &byte, 1);
  }
  const Duration begin = monotonic_now();
  (void)open_gate(gate);
  for (const int pipe : pipes) {
    char byte = 0;
    (void)!read(pipe, &byte, 1);  // the end
    close(pipe);
  }
  const Duration last = monotonic_now();
  for (const pid_t child : children) kill(child, SIGKILL);
  while (wait(nullptr) > 0) {
  }
  std::filesystem::remove_all(directory);
  return in_ms(last - begin);
}

double held_gate(int count) {
  Bench bench(true);
  const std::string gate = bench.directory + "/gate";
  (void)make_gate(gate);
  int held = 0, running = 0, removed = 0;
  Time begin{}, last{};
  bench.runtime->on_change([&](const RunState& state) {
    if (state.phase == RunPhase::kHeld && ++held == count) {
      begin = real_clock().now();
      (void)open_gate(gate);
    }
    if (state.phase == RunPhase::kRunning) {
      last = std::max(last, *state.started);
      if (++running < count) return;
      for (int i = 0; i < count; ++i) bench.runtime->kill({fmt::format("pod-{}", i), "main", 0});
    }
    if (state.phase != RunPhase::kExited) return;
    bench.runtime->remove_pod(state.id.pod_uid, [&](Status) {
      if (++removed == count) bench.loop->stop();
    });
  });
  for (int i = 0; i < count; ++i) bench.start(i, kProgram, gate);
  bench.loop->run();
  return in_ms(last - begin);
}

void measure_gate(int count) {
  constexpr int kRounds = 9;
  std::vector<double> bare, held;
  for (int i = 0; i < kRounds; ++i) {
    bare.push_back(bare_gate(count));
    held.push_back(held_gate(count));
  }
  std::ranges::sort(bare);
  std::ranges::sort(held);
  fmt::print(
      "{} at a gate, until the last one's exec, median of {}: bare {:.1f} ms, pods "
      "{:.1f} ms ({:.2f} times)\n",
      count, kRounds, bare[kRounds / 2], held[kRounds / 2], held[kRounds / 2] / bare[kRounds / 2]);
}

}  // namespace
}  // namespace muster::runtime

int main(int argc, char** argv) {
  using namespace muster::runtime;
  const std::string what = argc > 1 ? argv[1] : "pods";
  if (what == "keeper") return keeper_main(argc - 1, argv + 1);
  const int count = argc > 2 ? std::atoi(argv[2]) : (what == "gate" ? 256 : 500);
  if (what == "gate") {
    measure_gate(count);
    return 0;
  }
  const int at_once = argc > 3 ? std::atoi(argv[3]) : 16;
  const std::string how = argc > 4 ? argv[4] : "";
  measure_bare(count, at_once, how != "plain");
  measure_pods(count, at_once, how != "plain", how == "token");
  return 0;
}
