// Text that lists indexes of an Indexed Job: "0,2-4,7" (spec: job 1.5).
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::admission {

struct IndexInterval {
  std::int64_t first = 0;
  std::int64_t last = 0;  // included
};

// Strictly increasing, each index below `completions`; on failure the reason in upstream's words.
std::expected<std::vector<IndexInterval>, std::string> parse_indexes(std::string_view text,
                                                                     std::int64_t completions);

std::int64_t count_indexes(const std::vector<IndexInterval>& intervals);

// The lowest index that both lists have.
std::optional<std::int64_t> first_common_index(const std::vector<IndexInterval>& a,
                                               const std::vector<IndexInterval>& b);

}  // namespace muster::admission
