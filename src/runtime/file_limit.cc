#include "runtime/file_limit.h"

#include <sys/resource.h>

#include <optional>

namespace muster::runtime {
namespace {

std::optional<rlimit>& before() {  // the process's own, as the limit is
  static std::optional<rlimit> limit;
  return limit;
}

}  // namespace

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  before() = limit;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void restore_file_limit() {
  if (before()) setrlimit(RLIMIT_NOFILE, &*before());
}

}  // namespace muster::runtime
