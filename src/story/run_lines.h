// The single lines that a person reads who follows a JobSet; the lines about its stages are in
// progress.h. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "story/pod_facts.h"
#include "story/stages.h"

namespace muster::story {

// While it is under way.
std::string suspended_line(std::string_view job_set, std::string_view resume_command);
std::string start_error_line(const PodFacts& pod, std::string_view job_set);
// `message` is fit for a terminal, here and below.
std::string podless_line(std::string_view job, std::string_view message);
std::string no_log_line(std::string_view name, std::string_view why);
std::string last_chance_line(Duration grace);

// At its end.
std::string outcome_line(std::string_view job_set, const Outcome& outcome);
std::string deleted_line(std::string_view job_set);
std::string timeout_line(std::string_view job_set, Duration timeout);
std::string dead_end_line(const DeadEnd& end, bool reason_is_told);
// Of the pod that failed first, with the last lines of its log.
std::vector<std::string> failure_lines(const PodFacts& failed,
                                       const std::vector<std::string>& last_lines);
// The server accepts the JobSet but refuses its Jobs.
std::vector<std::string> refused_jobs_lines(std::string_view message);
std::string no_own_exit_code_line(std::string_view selection);

}  // namespace muster::story
