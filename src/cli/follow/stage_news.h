// What has been told of a JobSet's stages, restarts and troubles, and what is news. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/views/views.h"
#include "cli/follow/pod_book.h"
#include "story/stages.h"

namespace muster::cli {

class StageNews {
 public:
  struct Options {
    std::string job_set;
    std::string resume_command;
    bool has_block = false;  // which shows stages and troubles: no lines about them
  };
  explicit StageNews(Options options) : options_(std::move(options)) {}

  // The lines that are news, and standing() and trouble() from now on.
  std::vector<std::string> look(const api::JobSet& set, const PodBook& pods);
  // Before the first line of a further attempt, whether the JobSet or one of its pods tells of it
  // first. Restarts from before the first look are no news.
  std::vector<std::string> look_at_attempt(const api::JobSet& set, std::int64_t restart,
                                           const PodBook& pods);

  const std::optional<story::Standing>& standing() const { return standing_; }
  const std::string& trouble() const { return trouble_; }

 private:
  Options options_;
  std::optional<story::Standing> standing_;
  std::optional<std::int64_t> restarts_;
  std::string trouble_;
  bool suspension_told_ = false;
  bool seen_before_end_ = false;  // so that every stage that had a pod is known
};

}  // namespace muster::cli
