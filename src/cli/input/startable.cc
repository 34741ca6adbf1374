#include "cli/input/startable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "admission/kueue/kueue_job.h"
#include "base/number.h"
#include "base/terminal_text.h"
#include "cli/input/job_set_containers.h"
#include "cli/input/kinds.h"
#include "controllers/jobset/names.h"

namespace muster::cli {
namespace {

Status check_job(json::Value job_set, json::Value replicated, std::string_view job) {
  const json::Value said = replicated.get("replicas");
  const std::int64_t replicas = said.is_number() ? said.as_int() : 1;
  const std::string_view name = replicated.get("name").as_string();
  const std::string_view set = job_set.get({"metadata", "name"}).as_string();
  // The server chooses the name of one that has a prefix only.
  if (set.empty() && job.contains(fmt::format("-{}-", name))) return {};
  std::string_view digits = job;
  if (const std::string jobs = fmt::format("{}-{}-", set, name); digits.starts_with(jobs))
    digits.remove_prefix(jobs.size());
  const std::int64_t index = parse_number<std::int64_t>(digits).value_or(-1);
  if (index >= 0 && index < replicas) return {};
  return fail(Code::kInvalid, fmt::format("--exit-code-from: {} has no job \"{}\"; there are {}",
                                          plain_text(name), plain_text(job), replicas));
}

using json::Value;

bool is_zero(Value number) { return number.is_number() && number.as_int() == 0; }

// How the line would be written: [echo, hi]; what only a shell understands is left to one.
std::string as_list(std::string_view line) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=@ ";
  if (line.find_first_not_of(kPlain) != line.npos)
    return fmt::format("[sh, -c, '{}']", plain_text(line));
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end > 0) words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(line.size(), end + 1));
  }
  return fmt::format("[{}]", fmt::join(words, ", "));
}

}  // namespace

Status check_commands(Value job_set) {
  Error error{.code = Code::kInvalid, .message = "a container has no command"};
  for_each_container(job_set, [&](Value container, const std::string& path) {
    bool is_said = false;
    for (const std::string_view field : {"command", "args"}) {
      const Value words = container.get(field);
      is_said |= !words.empty();
      if (words.is_null() || words.is_array()) continue;
      is_said = true;
      error.causes.push_back(
          {.reason = "FieldValueTypeInvalid",
           .message = words.is_string() ? "must be a list of words: " + as_list(words.as_string())
                                        : "must be a list of words",
           .field = fmt::format("{}.{}", path, field)});
    }
    if (is_said) return;
    error.causes.push_back(
        {.reason = "FieldValueRequired",
         .message = "a command is needed: this machine's own programs are run, and none is taken "
                    "from an image",
         .field = path});
  });
  if (error.causes.empty()) return {};
  return std::unexpected(std::move(error));
}

bool add_images(Value job_set) {
  bool any = false;
  for_each_container(job_set, [&](Value container, const std::string&) {
    if (!container.is_object()) return;
    const Value image = container.get("image");
    const bool has_one = !image.is_null() && !(image.is_string() && image.as_string().empty());
    if (has_one) return;
    container.set("image", kNoImage);
    any = true;
  });
  return any;
}

Status check_will_run(Value job_set) {
  Error error{.code = Code::kInvalid, .message = "nothing of it would ever start"};
  const auto add = [&](std::string field, std::string message) {
    error.causes.push_back(
        {.reason = "FieldValueInvalid", .message = std::move(message), .field = std::move(field)});
  };
  if (!job_set.get({"metadata", "labels", admission::kQueueLabel}).as_string().empty())
    add(fmt::format("metadata.labels[{}]", admission::kQueueLabel),
        "it would wait in a queue, and no queue controller works here");
  const Value manager = job_set.get({"spec", "managedBy"});
  if (manager.is_string() && manager.as_string() != controllers::jobset::kManager)
    add("spec.managedBy", fmt::format("{} does not work here", plain_text(manager.as_string())));
  const Value replicated = job_set.get({"spec", "replicatedJobs"});
  std::size_t without = 0;
  for (std::size_t i = 0; i < replicated.size(); ++i) {
    const Value each = replicated.items()[i];
    const std::string path = fmt::format("spec.replicatedJobs[{}]", i);
    if (is_zero(each.get("replicas"))) ++without;
    if (is_zero(each.get({"template", "spec", "parallelism"})))
      add(path + ".template.spec.parallelism", "with no pods at once it never ends");
  }
  if (without == replicated.size())
    add("spec.replicatedJobs",
        without == 0 ? "there is nothing to run" : "there is nothing to run: all have 0 replicas");
  if (error.causes.empty()) return {};
  return std::unexpected(std::move(error));
}

Status check_selection(json::Value job_set, std::string_view selection) {
  if (selection.empty()) return {};
  const std::size_t slash = selection.find('/');
  const std::string_view wanted = selection.substr(0, slash);
  std::vector<std::string> names;
  for (const json::Value replicated : job_set.get({"spec", "replicatedJobs"}).items()) {
    const std::string_view name = replicated.get("name").as_string();
    names.emplace_back(name);
    if (name != wanted) continue;
    if (slash == selection.npos) return {};
    const std::string_view rest = selection.substr(slash + 1);
    return check_job(job_set, replicated, rest.substr(0, rest.find('/')));
  }
  return fail(Code::kInvalid, fmt::format("--exit-code-from: there is no replicated job \"{}\"; {}",
                                          plain_text(wanted), other_names(wanted, names)));
}

}  // namespace muster::cli
