// When to stop waiting for what nobody can bring. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "story/stages.h"

namespace muster::cli {

class DeadEndWatch {
 public:
  enum class Verdict : std::uint8_t {
    kGoOn,
    kSayWhen,  // once for each dead end: it will be given up after its grace
    kGiveUp,
  };
  // `end` is nothing if there is none, or somebody else may bring what is missing.
  Verdict look(const std::optional<story::DeadEnd>& end, Time now);

 private:
  std::string pod_;  // empty: no dead end
  Time since_{};
};

}  // namespace muster::cli
