#include "cli/verbs/examples.h"

#include <algorithm>

namespace {

// In a file that CMakeLists.txt writes: one row per example.
struct EmbeddedFile {
  const char* name;
  const char* begin;
  const char* end;
};
extern "C" const EmbeddedFile muster_examples[];
extern "C" const EmbeddedFile muster_examples_end[];

}  // namespace

namespace muster::cli {

std::string_view Example::summary() const {
  std::string_view line = text.substr(0, text.find('\n'));
  while (line.starts_with('#') || line.starts_with(' ')) line.remove_prefix(1);
  // Where it comes from is not what it is about.
  if (const std::size_t colon = line.find(": "); line.starts_with("KEP-") && colon != line.npos)
    line.remove_prefix(colon + 2);
  line = line.substr(0, line.find_first_of(".;"));
  return line.substr(0, line.find(": `"));
}

std::vector<Example> examples() {
  std::vector<Example> out;
  for (const EmbeddedFile* file = muster_examples; file != muster_examples_end; ++file)
    out.push_back({file->name, {file->begin, file->end}});
  std::ranges::sort(out, {}, &Example::name);
  return out;
}

}  // namespace muster::cli
