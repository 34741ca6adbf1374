#include "base/rng.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <bit>
#include <random>
#include <string_view>

#include "base/result.h"

namespace muster {
namespace {

// Spreads a seed over the whole state (splitmix64), so that seeds 1 and 2 have nothing in common.
std::uint64_t spread(std::uint64_t& seed) {
  seed += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = seed;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = spread(seed);
}

Rng Rng::from_system() {
  std::random_device device;
  return Rng(std::uint64_t{device()} << 32 | device());
}

std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Rng::below(std::uint64_t bound) {
  MUSTER_ASSERT(bound > 0, "nothing lies below 0");
  // Draws from the incomplete last round of the range are thrown away: they would favour low
  // numbers.
  const std::uint64_t unfair = (0 - bound) % bound;
  while (true) {
    const std::uint64_t draw = next();
    if (draw >= unfair) return draw % bound;
  }
}

bool Rng::chance(double probability) {
  const double draw = static_cast<double>(next() >> 11) * 0x1p-53;  // in [0, 1)
  return draw < probability;
}

std::string make_uid(Rng& rng) {
  const std::uint64_t high = (rng.next() & ~0xF000ULL) | 0x4000;                    // version 4
  const std::uint64_t low = (rng.next() & ~(0xC000ULL << 48)) | (0x8000ULL << 48);  // variant 1
  return fmt::format(FMT_COMPILE("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}"), high >> 32,
                     high >> 16 & 0xFFFF, high & 0xFFFF, low >> 48, low & 0xFFFFFFFFFFFF);
}

std::string make_name_suffix(Rng& rng) {
  // Kubernetes leaves out vowels and what looks like them, so that no word appears by accident.
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  constexpr int kLength = 5;
  std::string suffix;
  for (int i = 0; i < kLength; ++i) suffix += kAlphabet[rng.below(kAlphabet.size())];
  return suffix;
}

}  // namespace muster
