// What `muster top` shows: JobSets, the pods of one, the log of one pod. Pure: keys and objects in,
// lines out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/follow/keys.h"
#include "story/pod_facts.h"
#include "story/stages.h"

namespace muster::cli {

class TopView {
 public:
  enum class Level { kJobSets, kPods, kLog };

  void set_job_set(const story::Standing& standing, std::string ns) {
    sets_[ns + "/" + standing.name] = standing;
  }
  void remove_job_set(const std::string& ns, const std::string& name) {
    sets_.erase(ns + "/" + name);
  }
  void set_pod(const std::string& key, story::PodFacts pod, std::string job_set);
  void remove_pod(const std::string& key) { pods_.erase(key); }
  void add_log_line(std::string line);
  void clear_log() { log_.clear(); }

  // False when it is to end.
  bool press(Key key);

  Level level() const { return level_; }
  // "ns/name" of what is looked at; empty if there is nothing.
  std::string selected_job_set() const;
  std::string selected_pod() const;

  // At most `height` lines of at most `width` columns.
  std::vector<std::string> lines(Time now, std::size_t width, std::size_t height,
                                 bool colours) const;

 private:
  struct Pod {
    story::PodFacts facts;
    std::string job_set;  // ns/name
  };
  std::vector<const std::pair<const std::string, Pod>*> pods_of_selected() const;
  std::size_t rows() const;
  std::vector<std::string> body(Time now) const;

  static constexpr std::size_t kMaxLog = 1000;  // lines kept
  std::map<std::string, story::Standing> sets_;
  std::map<std::string, Pod> pods_;
  std::vector<std::string> log_;
  Level level_ = Level::kJobSets;
  std::size_t set_row_ = 0, pod_row_ = 0;
  std::size_t log_up_ = 0;  // lines scrolled back
};

}  // namespace muster::cli
