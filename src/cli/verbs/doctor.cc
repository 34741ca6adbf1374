// `muster doctor`: what this machine lets muster do, and what to do about the rest.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "agent/machine_facts.h"
#include "base/clock.h"
#include "base/terminal_text.h"
#include "base/unique_fd.h"
#include "cli/follow/screen.h"
#include "cli/input/connection.h"
#include "cli/tools/oci_probe.h"
#include "cli/tools/sockets.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "runtime/oci_container.h"
#include "runtime/runtime.h"

namespace muster::cli {
namespace {

struct DoctorOptions {
  ServerFlags server;
};

enum class Verdict { kGood, kLess, kBad };  // works, works without something, does not work

struct Finding {
  std::string name;
  Verdict verdict = Verdict::kGood;
  std::string detail;
};

constexpr Duration kSlowSync = std::chrono::milliseconds(20);
constexpr std::uint64_t kLittleDisk = 1u << 30;
constexpr rlim_t kFewFiles = 4096;

// Only --runtime oci needs one.
std::vector<Finding> oci_findings(Loop& loop, runtime::Runtime& runtime, const std::string& dir) {
  std::vector<Finding> out;
  for (const std::string name : {"crun", "runc"}) {
    const auto program = runtime::find_oci_program(name);
    if (!program) continue;
    const Status works = probe_oci(loop, runtime, *program, dir);
    out.push_back(
        {name, works ? Verdict::kGood : Verdict::kLess,
         works ? fmt::format("{} runs containers (--runtime oci)", *program)
               : fmt::format("{} runs no containers: {}", *program, works.error().message)});
  }
  if (!out.empty()) return out;
  return {{"containers", Verdict::kLess, runtime::find_oci_program().error().message}};
}

// S5: what keeps pods from the keys of their server.
Finding data_directory_finding(const std::vector<runtime::Ability>& abilities) {
  const std::string name = "data directory";
  const auto mounts =
      std::ranges::find(abilities, runtime::kMountNamespaces, &runtime::Ability::name);
  if (mounts != abilities.end() && mounts->available)
    return {name, Verdict::kGood, "pods find an empty folder in its place"};
  if (::geteuid() == 0)
    return {name, Verdict::kGood, "closed to the pods' user by its mode, unless that is root"};
  return {name, Verdict::kLess,
          "without mount namespaces every pod can read it and so become administrator: run only "
          "pods that you trust, or start muster as root"};
}

// The abilities of the process runtime, which finds them out by trying.
std::vector<Finding> runtime_findings(const std::string& dir) {
  const auto loop = make_real_loop();
  auto runtime =
      runtime::make_process_runtime(*loop, {.directory = dir + "/runtime", .end_with_agent = true});
  if (!runtime) return {{"process runtime", Verdict::kBad, runtime.error().message}};
  std::vector<Finding> out;
  for (const runtime::Ability& ability : (*runtime)->abilities())
    out.push_back(
        {ability.name, ability.available ? Verdict::kGood : Verdict::kLess, ability.detail});
  out.push_back(data_directory_finding((*runtime)->abilities()));
  for (Finding& finding : oci_findings(*loop, **runtime, dir)) out.push_back(std::move(finding));
  return out;
}

std::vector<Finding> machine_findings(const std::string& dir) {
  const agent::MachineFacts facts = agent::read_machine_facts(dir);
  std::vector<Finding> out;
  out.push_back({"processors and memory", Verdict::kGood,
                 fmt::format("{} cores, {:.1f} GiB", facts.cpu_millis / 1000,
                             static_cast<double>(facts.memory_bytes) / (1u << 30))});
  out.push_back(
      {"GPUs", Verdict::kGood,
       facts.gpus.empty() ? "none found" : fmt::format("{} (nvidia.com/gpu)", facts.gpus.size())});
  return out;
}

// A durable write, which every acknowledged change of an object waits for.
Finding disk_finding(const std::string& dir) {
  constexpr int kTries = 5;
  const std::string file = dir + "/sync";
  const UniqueFd fd(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  const std::string block(2048, 'x');
  Duration slowest{};
  for (int i = 0; i < kTries; ++i) {
    const Duration begin = monotonic_now();
    const ssize_t size = static_cast<ssize_t>(block.size());
    if (!fd.valid() || ::write(fd.get(), block.data(), block.size()) != size ||
        ::fdatasync(fd.get()) != 0) {
      return {"disk", Verdict::kBad, fmt::format("cannot write durably in {}", dir)};
    }
    slowest = std::max(slowest, monotonic_now() - begin);
  }
  struct statvfs space{};
  ::statvfs(dir.c_str(), &space);
  const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
  const bool slow = slowest > kSlowSync, full = free < kLittleDisk;
  return {"disk", slow || full ? Verdict::kLess : Verdict::kGood,
          fmt::format("a durable write in {} takes up to {:.1f} ms, {:.1f} GiB are free{}", dir,
                      static_cast<double>(slowest.count()) / 1000,
                      static_cast<double>(free) / (1u << 30),
                      slow ? "; slow: choose a data directory on a local disk" : "")};
}

// Every pod has an address of its own, in 127.0.0.0/8.
Finding address_finding() {
  const auto own = listen_at("127.77.3.9", "0");
  const auto usual = listen_at("127.0.0.1", "0");
  if (!usual) return {"loopback", Verdict::kBad, usual.error().message};
  if (!own)
    return {"addresses of pods", Verdict::kLess,
            "only 127.0.0.1 can be used: pods share it, and their ports may collide"};
  return {"addresses of pods", Verdict::kGood, "each pod gets its own in 127.0.0.0/8"};
}

Finding clock_finding() {
  timex state{};
  const int status = ::adjtimex(&state);
  const Time now = real_clock().now();
  if (now < *parse_time("2026-01-01T00:00:00Z"))
    return {"clock", Verdict::kBad, fmt::format("it shows {}: set it", format_time(now))};
  if (status == TIME_ERROR)
    return {"clock", Verdict::kLess,
            "not synchronised; times of several machines cannot be compared"};
  return {"clock", Verdict::kGood, "synchronised"};
}

Finding limits_finding() {
  rlimit files{}, processes{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  ::getrlimit(RLIMIT_NPROC, &processes);
  const bool few = files.rlim_max < kFewFiles;
  return {"limits", few ? Verdict::kLess : Verdict::kGood,
          fmt::format("{} open files, {} processes{}", files.rlim_max,
                      processes.rlim_max == RLIM_INFINITY ? std::string("any number of")
                                                          : std::to_string(processes.rlim_max),
                      few ? "; more files let more pods be followed: ulimit -Hn" : "")};
}

Finding server_finding(const ServerFlags& flags) {
  auto connection = Connection::open(flags);
  if (!connection) return {"server", Verdict::kBad, connection.error().message};
  const auto ready = (*connection)->get("/readyz");
  if (!ready) return {"server", Verdict::kBad, ready.error().message};
  return {"server", Verdict::kGood, fmt::format("{} is ready", (*connection)->url())};
}

void print(const std::vector<Finding>& findings) {
  const bool colours = wants_colours(STDOUT_FILENO);
  for (const Finding& finding : findings) {
    const bool good = finding.verdict == Verdict::kGood, bad = finding.verdict == Verdict::kBad;
    fmt::print("{} {:<24} {}\n",
               coloured(good  ? "[ok]"
                        : bad ? "[!!]"
                              : "[--]",
                        good  ? 32
                        : bad ? 31
                              : 33,
                        colours),
               finding.name, plain_text(finding.detail));
  }
}

int doctor(const DoctorOptions& options) {
  std::string dir = options.server.data_dir;
  if (dir.empty()) dir = std::filesystem::temp_directory_path();
  dir += "/muster-doctor-XXXXXX";
  if (::mkdtemp(dir.data()) == nullptr)
    return complain({.code = Code::kUnavailable, .message = fmt::format("cannot write in {}", dir)},
                    kRefused);
  std::vector<Finding> findings = runtime_findings(dir);
  for (Finding& finding : machine_findings(dir)) findings.push_back(std::move(finding));
  findings.push_back(address_finding());
  findings.push_back(disk_finding(dir));
  findings.push_back(clock_finding());
  findings.push_back(limits_finding());
  const bool asks_server = !options.server.kubeconfig.empty() || !options.server.data_dir.empty();
  if (asks_server) findings.push_back(server_finding(options.server));
  std::error_code ignored;
  std::filesystem::remove_all(dir, ignored);
  print(findings);
  const bool bad = std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.verdict == Verdict::kBad; });
  return bad ? kRefused : kSucceeded;
}

}  // namespace

Verb doctor_verb() {
  const auto o = std::make_shared<DoctorOptions>();
  return {.name = "doctor",
          .group = "Operate",
          .help = "Say what this machine lets muster do: namespaces, limits, GPUs, disk, clock",
          .flags = {{"--data-dir", &o->server.data_dir, "Look at this disk, and at its server"},
                    {"--kubeconfig", &o->server.kubeconfig, "Look at this server, too"}},
          .run = [o] { return doctor(*o); }};
}

}  // namespace muster::cli
