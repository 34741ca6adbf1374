#include "json/path.h"

#include <fmt/format.h>

namespace muster::json {

std::string path_text(const PathFrame* frame) {
  if (!frame) return {};
  std::string text = path_text(frame->parent);
  if (frame->is_item) return fmt::format("{}[{}]", text, frame->index);
  if (!text.empty()) text += '.';
  return text += frame->key;
}

}  // namespace muster::json
