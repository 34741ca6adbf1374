#include "story/job_set_table.h"

#include <fmt/format.h>

#include "story/stages.h"

namespace muster::story {

std::vector<std::string> job_set_columns(bool wide) {
  std::vector<std::string> names = {"NAME", "STATE", "STAGE", "READY", "RESTARTS", "AGE"};
  if (wide) names.emplace_back("WAITING FOR");
  return names;
}

std::vector<std::string> job_set_cells(json::Value job_set, Time now, bool wide) {
  const Standing standing = standing_of(api::read_job_set(job_set));
  std::int64_t ready = 0, all = 0;
  for (const Stage& stage : standing.stages) {
    ready += stage.jobs_ready;
    all += stage.jobs;
  }
  std::vector<std::string> cells = {
      standing.name,
      standing.state,
      standing.current(),
      fmt::format("{}/{}", ready, all),
      standing.max_restarts ? fmt::format("{}/{}", standing.restarts, *standing.max_restarts)
                            : std::to_string(standing.restarts),
      standing.created ? human_duration(now - *standing.created) : "<unknown>"};
  if (wide) cells.push_back(standing.waiting.empty() ? "<none>" : standing.waiting);
  return cells;
}

}  // namespace muster::story
