#include "sim/process_spec.h"

#include <fmt/format.h>

#include <array>

#include "base/near_words.h"
#include "sim/scenario_values.h"

namespace muster::sim {
namespace {

using Names = std::set<std::string, std::less<>>;

// What takes part in a simulated cluster.
constexpr std::array<std::string_view, 11> kControllers{
    "jobset", "job",       "scheduler", "serviceaccount", "garbage", "podgc",
    "ttl",    "namespace", "node",      "endpointslice",  "claims"};

Result<bool> read_flag(const Place& place, bool fallback) {
  if (place.is_missing()) return fallback;
  if (place.value().is_bool()) return place.value().as_bool();
  return place.wrong("must be true or false");
}

// Takes them out of `free`: every controller runs in one process.
Result<Names> read_controllers(const Place& list, Names& free) {
  MUSTER_TRY(const auto names, read_list<std::string>(list, read_text));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (free.erase(names[i]) > 0) continue;
    const Place place = list.items()[i];
    const std::vector<std::string> known(kControllers.begin(), kControllers.end());
    if (std::ranges::find(known, names[i]) != known.end())
      return place.wrong(fmt::format("{} runs in another process already", names[i]));
    const auto guess = did_you_mean(names[i], known);
    return place.wrong(fmt::format("there is no controller \"{}\"{}", names[i],
                                   guess ? fmt::format("; did you mean \"{}\"?", *guess) : ""));
  }
  return Names(names.begin(), names.end());
}

Result<ProcessSpec> read_process(const Place& place) {
  constexpr int kMostReplicas = 9;
  MUSTER_CHECK(check_members(place, {"name", "runs", "replicas", "leaderElection"}));
  ProcessSpec out;
  MUSTER_TRY(out.name, read_text(place.get("name")));
  if (out.name.empty()) return place.wrong("a name is missing");
  MUSTER_TRY(out.replicas, read_number(place.get("replicas"), 1, out.replicas));
  if (out.replicas > kMostReplicas)
    return place.get("replicas").wrong(fmt::format("more than {}", kMostReplicas));
  MUSTER_TRY(out.elects_leader, read_flag(place.get("leaderElection"), out.replicas > 1));
  if (out.replicas > 1 && !out.elects_leader)
    return place.get("leaderElection").wrong("several replicas must elect a leader");
  return out;
}

}  // namespace

Result<std::vector<ProcessSpec>> read_processes(const Place& place) {
  Names free(kControllers.begin(), kControllers.end());
  if (place.is_missing()) {
    ProcessSpec all;
    all.name = "muster";
    all.controllers = std::move(free);
    return std::vector{std::move(all)};
  }
  MUSTER_TRY(auto out, read_list<ProcessSpec>(place, read_process));
  Names names;
  ProcessSpec* rest = nullptr;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Place entry = place.items()[i];
    if (!names.insert(out[i].name).second)
      return entry.wrong(fmt::format("there are two processes {}", out[i].name));
    if (entry.has("runs")) {
      MUSTER_TRY(out[i].controllers, read_controllers(entry.get("runs"), free));
    } else if (std::exchange(rest, &out[i]) != nullptr) {
      return entry.wrong("only one process can run what is left: say what this one runs");
    }
  }
  if (rest != nullptr) rest->controllers = std::exchange(free, {});
  if (!free.empty()) return place.wrong(fmt::format("no process runs {}", *free.begin()));
  return out;
}

}  // namespace muster::sim
