// `muster sim`: scenarios on the simulated engine, with faults where they are wanted.
#include <fmt/format.h>

#include "base/log.h"
#include "base/number.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "engine/data_dir.h"
#include "json/parse.h"
#include "sim/canonical.h"
#include "sim/simulation.h"

namespace muster::cli {
namespace {

constexpr std::string_view kListWatch = "list-watch", kFeed = "feed";

struct SimOptions {
  std::vector<std::string> files;  // scenarios
  std::uint64_t seed = 1;
  std::uint64_t runs = 1;     // with so many seeds from `seed` on
  bool faults = false;        // random ones, made of the seed
  bool crash_points = false;  // die before and after every write, one after the other
  std::string crash_at;       // one of these: "17", "17+", "17s", "17+s", "scheduler:17"
  std::string reads = std::string(kListWatch);
  bool trace = false;   // print the controllers' writes
  std::string output;   // json: what is left; state: in canonical form; kinds: those that count
  std::string compare;  // a file with a List: another engine's end, which must be the same
};

// How to see this very run again.
std::string command(const std::string& file, const SimOptions& options,
                    const sim::RunOptions& run) {
  std::string out = fmt::format("muster sim {} --seed {}", file, run.seed);
  if (run.reads == sim::Reads::kFeed) out += fmt::format(" --reads {}", kFeed);
  if (options.faults) out += " --faults";
  if (run.crash_point) {
    const sim::CrashPoint& point = *run.crash_point;
    out += fmt::format(" --crash-at {}{}{}{}{}", point.process, point.process.empty() ? "" : ":",
                       point.write, point.after ? "+" : "", point.stale_cache ? "s" : "");
  }
  return out;
}

// "17", "17+" (after the write), "17s", "17+s" (with a stale cache), "scheduler:17".
std::optional<sim::CrashPoint> read_crash_point(std::string_view text) {
  sim::CrashPoint point;
  if (const auto colon = text.find(':'); colon != text.npos) {
    point.process = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (text.ends_with('s')) {
    point.stale_cache = true;
    text.remove_suffix(1);
  }
  if (text.ends_with('+')) {
    point.after = true;
    text.remove_suffix(1);
  }
  point.write = parse_number<decltype(point.write)>(text).value_or(0);
  if (point.write == 0) return std::nullopt;
  return point;
}

class Simulator {
 public:
  Simulator(const SimOptions& options, std::optional<sim::CrashPoint> crash_at,
            std::optional<std::string> expected)
      : options_(options), crash_at_(crash_at), expected_(std::move(expected)) {}

  int run() {
    for (const std::string& file : options_.files) {
      const auto text = engine::read_file(file);
      auto scenario = text ? sim::parse_scenario(file, *text)
                           : Result<sim::Scenario>(std::unexpected(text.error()));
      if (!scenario) return complain(scenario.error(), kUsage);
      run_file(file, *scenario);
    }
    if (runs_ > 1) fmt::print("{} runs, {} failed\n", runs_, failed_);
    return failed_ == 0 ? kSucceeded : kRefused;
  }

 private:
  void run_file(const std::string& file, const sim::Scenario& scenario) {
    if (options_.output == "kinds") return print_kinds(scenario);
    sim::RunOptions plain{
        .seed = options_.seed,
        .reads = options_.reads == kFeed ? sim::Reads::kFeed : sim::Reads::kListWatch};
    plain.crash_point = crash_at_;
    if (options_.crash_points) return run_crash_points(file, scenario, plain);
    for (std::uint64_t seed = options_.seed; seed < options_.seed + options_.runs; ++seed) {
      plain.seed = seed;
      if (options_.faults) plain.rates = sim::FaultRates::rough();
      const auto done = judge(file, scenario, plain, expected_ ? &*expected_ : nullptr);
      if (done) report(file, *done);
    }
  }

  // As kubectl takes them.
  static void print_kinds(const sim::Scenario& scenario) {
    std::string names;
    for (const api::Resource* kind : scenario.compared)
      names += (names.empty() ? "" : ",") + kind->qualified();
    fmt::print("{}\n", names);
  }

  // R8: each process dies before and after each of its writes, and comes back with a fresh or a
  // stale cache (a feed is never stale). The end must always be that of the undisturbed run.
  void run_crash_points(const std::string& file, const sim::Scenario& scenario,
                        sim::RunOptions options) {
    const auto undisturbed = judge(file, scenario, options);
    if (!undisturbed) return;
    const int failed_before = failed_, runs_before = runs_;
    for (const sim::ProcessRun& process : undisturbed->processes) {
      const std::string name = undisturbed->processes.size() > 1 ? process.name : "";
      for (std::size_t write = 1; write <= process.writes; ++write) {
        for (const bool after : {false, true}) {
          for (const bool stale : {false, true}) {
            if (stale && options.reads == sim::Reads::kFeed) continue;
            options.crash_point = {
                .process = name, .write = write, .after = after, .stale_cache = stale};
            judge(file, scenario, options, &undisturbed->state);
          }
        }
      }
    }
    fmt::print("{}: {} writes, {} crash points, {} failed\n", scenario.name,
               undisturbed->writes.size(), runs_ - runs_before, failed_ - failed_before);
  }

  std::optional<sim::Run> judge(const std::string& file, const sim::Scenario& scenario,
                                const sim::RunOptions& run_options,
                                const std::string* expected = nullptr) {
    ++runs_;
    auto done = sim::run_scenario(scenario, run_options);
    std::string faults;
    if (!done) {
      faults = "  " + done.error().message + "\n";
    } else {
      for (const std::string& violation : done->violations) faults += "  " + violation + "\n";
      if (expected != nullptr) faults += sim::difference(*expected, done->state);
    }
    if (!faults.empty()) {
      ++failed_;
      fmt::print("FAILED: {}\n{}", command(file, options_, run_options), faults);
    }
    if (!done) return std::nullopt;
    return *std::move(done);
  }

  void report(const std::string& file, const sim::Run& done) const {
    if (options_.trace) {
      for (const std::string& write : done.writes) fmt::print("{}\n", write);
    }
    if (options_.output == "json") {
      fmt::print("{}\n", done.objects);
    } else if (options_.output == "state") {
      fmt::print("{}", done.state);
    } else if (options_.runs == 1) {
      fmt::print("{}: at rest after {}, {} writes, {} lives, history {}\n", file,
                 human_duration(done.took), done.writes.size(), done.lives(), done.hash);
    }
  }

  const SimOptions& options_;
  std::optional<sim::CrashPoint> crash_at_;
  std::optional<std::string> expected_;  // the end of the same scenario elsewhere
  int runs_ = 0;
  int failed_ = 0;
};

// The canonical state of a List of objects, as `kubectl get -o json` prints it.
Result<std::string> read_state(const std::string& file) {
  json::Arena arena;
  MUSTER_TRY(const std::string text, engine::read_file(file));
  MUSTER_TRY(const json::Value list, json::parse(arena, text));
  return sim::canonical_state(list.get("items").items());
}

// What one sees who asks for nothing.
int introduce() {
  fmt::print(stderr,
             "error: say which scenario to simulate: muster sim FILE...\n"
             "  A scenario is a file of JobSets with stages of what happens to them (pods that "
             "fail, nodes that go),\n"
             "  played in virtual time by the real controllers; docs/simulation.md describes it, "
             "tests/scenarios holds some.\n"
             "  help: muster sim tests/scenarios/create.yaml --trace\n");
  return kUsage;
}

int simulate(const SimOptions& options) {
  if (options.files.empty()) return introduce();
  // Refused writes are what it is about.
  log::configure(log::Level::kError, log::Format::kText);
  std::optional<std::string> expected;
  if (!options.compare.empty()) {
    auto state = read_state(options.compare);
    if (!state) return misused(fmt::format("{}: {}", options.compare, state.error().message));
    expected = *std::move(state);
  }
  std::optional<sim::CrashPoint> crash_at;
  if (!options.crash_at.empty()) {
    crash_at = read_crash_point(options.crash_at);
    if (!crash_at)
      return misused("--crash-at takes a number of a write, then + and s: 17+s, scheduler:17");
  }
  return Simulator(options, crash_at, std::move(expected)).run();
}

}  // namespace

Verb sim_verb() {
  const auto o = std::make_shared<SimOptions>();
  return {
      .name = "sim",
      .group = "Understand",
      .help = "Run scenarios in virtual time with the real controllers, and faults if wanted",
      .flags = {{"files", &o->files, "Scenario files (docs/simulation.md)"},
                {"--seed", &o->seed, "Of everything that is random"},
                {"--runs", &o->runs, "So many, each with the next seed"},
                {"--faults", &o->faults,
                 "Crashes, lost answers, conflicts, cut and late watches, made of the seed"},
                {"--crash-points", &o->crash_points,
                 "Die before and after every single write; the end must stay the same"},
                {"--crash-at", &o->crash_at,
                 "One crash point: the process if there are several (scheduler:), number of the "
                 "write, + for after it, s for a stale cache"},
                {"--reads",
                 &o->reads,
                 "How controllers hear of changes: by list and watch, as on a cluster, or from "
                 "the store's feed, as in `muster serve`",
                 {std::string(kListWatch), std::string(kFeed)}},
                {"--trace", &o->trace, "Print the controllers' writes"},
                {"-o,--output",
                 &o->output,
                 "Print what is left at the end, or only which kinds count there",
                 {"json", "state", "kinds"}},
                {"--compare", &o->compare,
                 "A List of objects (JSON), the end on another engine: say how it differs"}},
      .run = [o] { return simulate(*o); }};
}

}  // namespace muster::cli
