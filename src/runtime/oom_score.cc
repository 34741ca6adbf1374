#include "runtime/oom_score.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/number.h"
#include "base/unique_fd.h"
#include "runtime/read_file.h"

namespace muster::runtime {
namespace {

constexpr const char* kFile = "/proc/self/oom_score_adj";

}  // namespace

int oom_score_of_pods(int own) { return std::min(kMostOomScore, std::max(own, 0) + kPodOomScore); }

void be_ended_before_the_server() {
  std::string text = read_file(kFile);
  while (text.ends_with('\n')) text.pop_back();
  const auto own = parse_number<int>(text);
  const UniqueFd file(open(kFile, O_WRONLY | O_CLOEXEC));
  if (!own || !file.valid()) return;
  const std::string wanted = fmt::format("{}", oom_score_of_pods(*own));
  [[maybe_unused]] const ssize_t written = write(file.get(), wanted.data(), wanted.size());
}

}  // namespace muster::runtime
