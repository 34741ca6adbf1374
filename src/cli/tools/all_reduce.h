// `muster tool allreduce`: a stand-in for a training program. Ranks find each other as those of
// torchrun do (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT) and add up numbers, step by step.
#pragma once

#include <string>

#include "base/result.h"

namespace muster::cli {

struct AllReduceOptions {
  int rank = 0;
  int world_size = 1;
  std::string master_address;
  std::string master_port;
  int steps = 3;
};

// From the environment; fails naming the variable that is missing or wrong.
Result<AllReduceOptions> all_reduce_options();

// Fails if a rank is lost on the way, or a sum is wrong.
Status all_reduce(const AllReduceOptions& options);

}  // namespace muster::cli
