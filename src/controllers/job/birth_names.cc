#include "controllers/job/birth_names.h"

#include <map>

#include "base/rng.h"
#include "base/stable_hash.h"

namespace muster::controllers::job {
namespace {

// Back-off has grown beyond a second by then: a cache that lagged behind has caught up.
constexpr int kTries = 9;

}  // namespace

// A slot is an index, or all of a Job without indexes. Whoever held it before makes the name a new
// one; those that are gone for good need not, their names are free.
void name_births(const Job& job, const Census& census, const Namesakes& others,
                 std::span<Birth> born) {
  if (born.empty()) return;
  std::map<std::int64_t, std::uint64_t> predecessors;
  for (const Pod* pod : census.pods) {
    // A sum: the order of pods must not matter.
    predecessors[job.is_indexed() ? pod->index : kNoIndex] += stable_hash(pod->ref.uid);
  }
  std::uint64_t seed = stable_hash(job.ref.uid);
  for (int tried = kTries; tried <= others.failures; tried += kTries)
    seed = stable_hash("taken", seed);
  for (const Pod* pod : others.uncontrolled) {
    if (pod->ref.name.starts_with(job.ref.name + "-")) seed += stable_hash(pod->ref.uid);
  }
  for (std::size_t i = 0; i < born.size(); ++i) {
    const std::uint64_t place = job.is_indexed() ? static_cast<std::uint64_t>(born[i].index) : i;
    Rng rng(seed + 0x9e3779b97f4a7c15u * (place + 1) + predecessors[born[i].index]);
    born[i].suffix = make_name_suffix(rng);
  }
}

}  // namespace muster::controllers::job
