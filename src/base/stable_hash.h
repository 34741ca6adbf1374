// A hash that is the same on every machine and in every run (FNV-1a): for choices that look
// arbitrary but must not depend on chance.
#pragma once

#include <cstdint>
#include <string_view>

namespace muster {

constexpr std::uint64_t kStableHashStart = 0xcbf29ce484222325;

// Several texts are hashed as one by giving the hash of those before as `hash`.
constexpr std::uint64_t stable_hash(std::string_view text, std::uint64_t hash = kStableHashStart) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace muster
