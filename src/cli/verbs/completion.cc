// `muster completion SHELL`.
#include <fmt/format.h>

#include "api/schema/registry.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/completion_text.h"
#include "cli/verbs/exit_code.h"

namespace muster::cli {
namespace {

int completion(const std::string& shell) {
  std::vector<std::string> kinds;
  for (const api::Resource* resource : api::Registry::builtin().resources()) {
    if (resource->has_verb("list") && resource->storage == resource)
      kinds.push_back(resource->plural);
  }
  fmt::print("{}", completion_script(shell, all_verbs(), kinds));
  return kSucceeded;
}

}  // namespace

Verb completion_verb() {
  const auto shell = std::make_shared<std::string>();
  return {.name = "completion",
          .group = "Operate",
          .help = "Print a script that completes commands: source <(muster completion bash)",
          .flags = {{"shell", shell.get(), "The shell", {"bash", "zsh", "fish"}, true}},
          .run = [shell] { return completion(*shell); }};
}

}  // namespace muster::cli
