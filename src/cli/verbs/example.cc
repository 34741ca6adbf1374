// `muster example [NAME]`: JobSets to begin with.
#include <fmt/format.h>

#include "cli/input/diagnose.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/examples.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"

namespace muster::cli {
namespace {

std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const Example& example : examples()) names.emplace_back(example.name);
  return names;
}

int list() {
  for (const Example& example : examples())
    fmt::print("{:<24}{}\n", example.name, example.summary());
  fmt::print("\nmuster example ddp > ddp.yaml && muster run ddp.yaml\n");
  return kSucceeded;
}

int print(const std::string& name) {
  if (name.empty()) return list();
  for (const Example& example : examples()) {
    if (example.name == name) {
      fmt::print("{}", example.text);
      return kSucceeded;
    }
  }
  const auto guess = did_you_mean(name, example_names());
  complain({.code = Code::kNotFound,
            .message = fmt::format("there is no example \"{}\"{}", name,
                                   guess ? fmt::format("; did you mean \"{}\"?", *guess)
                                         : "; muster example lists them")},
           kRefused);
  return kRefused;
}

}  // namespace

Verb example_verb() {
  const auto name = std::make_shared<std::string>();
  return {.name = "example",
          .group = "Run",
          .help = "Print an example to run; without a name, list them",
          .flags = {{.names = "name",
                     .target = name.get(),
                     .help = "An example",
                     .offered = example_names()}},
          .run = [name] { return print(*name); }};
}

}  // namespace muster::cli
