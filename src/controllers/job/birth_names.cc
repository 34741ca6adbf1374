#include "controllers/job/birth_names.h"

#include <algorithm>

#include "base/rng.h"
#include "base/stable_hash.h"

namespace muster::controllers::job {
namespace {

// Back-off has grown beyond a second by then: a cache that lagged behind has caught up.
constexpr int kTries = 9;

// A sum: the order of pods must not matter.
std::uint64_t sum_of(std::span<const Pod* const> pods) {
  std::uint64_t sum = 0;
  for (const Pod* pod : pods) sum += stable_hash(pod->ref.uid);
  return sum;
}

}  // namespace

// A slot is an index, or all of a Job without indexes. Whoever held it before makes the name a new
// one; those that are gone for good need not, their names are free.
void name_births(const Job& job, const Census& census, const Namesakes& others,
                 std::span<Birth> born) {
  if (born.empty()) return;
  const bool indexed = job.is_indexed();
  const std::uint64_t all = indexed ? 0 : sum_of(census.pods);
  const auto predecessors = [&](const Birth& birth) {
    if (!indexed) return birth.index == kNoIndex ? all : 0;
    return sum_of(std::ranges::equal_range(census.pods, birth.index, {}, &Pod::index));
  };
  std::uint64_t seed = stable_hash(job.ref.uid);
  for (int tried = kTries; tried <= others.failures; tried += kTries)
    seed = stable_hash("taken", seed);
  for (const Pod* pod : others.uncontrolled) {
    if (pod->ref.name.starts_with(job.ref.name + "-")) seed += stable_hash(pod->ref.uid);
  }
  for (std::size_t i = 0; i < born.size(); ++i) {
    const std::uint64_t place = indexed ? static_cast<std::uint64_t>(born[i].index) : i;
    Rng rng(seed + 0x9e3779b97f4a7c15u * (place + 1) + predecessors(born[i]));
    born[i].suffix = make_name_suffix(rng);
  }
}

}  // namespace muster::controllers::job
