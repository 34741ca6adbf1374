// Randomness, as something that is passed in, and the ids that are made of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace muster {

// Deterministic for a seed (xoshiro256**). Not for keys: those come from OpenSSL in net/.
// Not thread-safe: one per thread or behind the owner's lock.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);
  static Rng from_system();  // seeded by the kernel; rng.cc is the only reader of it

  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound); bound > 0
  bool chance(double probability);

 private:
  std::array<std::uint64_t, 4> state_;
};

std::string make_uid(Rng& rng);          // a version 4 UUID
std::string make_name_suffix(Rng& rng);  // five letters of generateName's alphabet

}  // namespace muster
