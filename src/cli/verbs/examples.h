// The files of examples/, which are part of the binary.
#pragma once

#include <string_view>
#include <vector>

namespace muster::cli {

struct Example {
  std::string_view name;  // "ddp"
  std::string_view text;

  // The first sentence of its first comment.
  std::string_view summary() const;
};

std::vector<Example> examples();  // by name

}  // namespace muster::cli
