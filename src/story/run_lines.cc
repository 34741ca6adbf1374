#include "story/run_lines.h"

#include <fmt/format.h>

#include "base/terminal_text.h"

namespace muster::story {

std::string suspended_line(std::string_view job_set, std::string_view resume_command) {
  return fmt::format("jobset {} is suspended; this starts it: {}", job_set, resume_command);
}

std::string start_error_line(const PodFacts& pod, std::string_view job_set) {
  return fmt::format("error: {}: {}", short_name(pod, job_set), pod.failure->text());
}

std::string podless_line(std::string_view job, std::string_view message) {
  return fmt::format("job {} has no pods: {}", plain_text(job), message);
}

std::string no_log_line(std::string_view name, std::string_view why) {
  return fmt::format("error: no log of {}: {}", name, plain_text(why));
}

std::string last_chance_line(Duration grace) {
  return fmt::format("nobody else uses this server: giving up in {} unless that changes",
                     human_duration(grace));
}

std::string outcome_line(std::string_view job_set, const Outcome& outcome) {
  return fmt::format("jobset {}: {}", job_set, plain_text(outcome.message));
}

std::string deleted_line(std::string_view job_set) {
  return fmt::format("jobset {} was deleted", job_set);
}

std::string timeout_line(std::string_view job_set, Duration timeout) {
  return fmt::format("jobset {} has not ended within {}", job_set, human_duration(timeout));
}

std::string dead_end_line(const DeadEnd& end, bool reason_is_told) {
  return "error: " + (reason_is_told && !end.brief.empty() ? end.brief : end.why);
}

std::vector<std::string> failure_lines(const PodFacts& failed,
                                       const std::vector<std::string>& last_lines) {
  std::vector<std::string> out = {
      fmt::format("failed: pod {}, container {}: {}", plain_text(failed.name),
                  plain_text(failed.failure->container), failed.failure->text())};
  if (last_lines.empty()) {
    out.emplace_back("  it wrote nothing");
  } else if (last_lines.size() == 1) {
    out.emplace_back("  its last line:");
  } else {
    out.push_back(fmt::format("  its last {} lines:", last_lines.size()));
  }
  for (const std::string& line : last_lines) out.push_back("  | " + plain_text(line));
  return out;
}

std::vector<std::string> refused_jobs_lines(std::string_view message) {
  std::vector<std::string> out = {
      fmt::format("error: the server takes the JobSet, but not its Jobs: {}", message)};
  if (message.contains(".image: Required value"))
    out.emplace_back("  help: where pods are processes, image: none will do");
  return out;
}

std::string no_own_exit_code_line(std::string_view selection) {
  return fmt::format("no pod of {} has ended by itself: the exit code is the JobSet's",
                     plain_text(selection));
}

}  // namespace muster::story
