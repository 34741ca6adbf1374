// Where a reader stands in a document: a chain of frames on its stack, turned into text only when
// there is something to report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::json {

struct PathFrame {
  const PathFrame* parent = nullptr;
  std::string_view key;  // of a member; empty for an item
  std::size_t index = 0;
  bool is_item = false;
};

// "spec.containers[0].name"; a null pointer is the root, "".
std::string path_text(const PathFrame* frame);

}  // namespace muster::json
