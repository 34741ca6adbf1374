// One thing that must hold at every revision of every run, whatever fails (experience 4.2, R8 to
// R10).
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "api/views/views.h"
#include "store/store.h"

namespace muster::sim {

// The JobSets and Jobs that there are after a change, by uid.
struct Present {
  std::map<std::string, api::JobSet> sets;
  std::map<std::string, api::Job> jobs;

  // The JobSet that controls the Job; null if there is none.
  const api::JobSet* set_of(const api::Job& job) const;
};

// One change of a JobSet, a Job or a pod: the other pointers are null.
struct Change {
  const store::Event* event = nullptr;
  const api::JobSet* set = nullptr;
  const api::JobSet* set_before = nullptr;
  const api::Job* job = nullptr;
  const api::Job* job_before = nullptr;
  const api::Pod* pod = nullptr;

  bool is_deletion() const { return event->type == store::Event::Type::kDeleted; }
  // "revision 12, …: what".
  std::string broken(std::string_view what) const {
    return fmt::format("revision {}, {}: {}", event->revision, event->object->path(), what);
  }
};

using Violations = std::vector<std::string>;

// Sees every change in the order of revisions, and keeps what it needs to judge the next one.
class Rule {
 public:
  virtual ~Rule() = default;
  virtual void judge(const Change&, const Present&, Violations&) {}
  virtual void judge_rest(const std::vector<store::ObjectPtr>&, Violations&) {}
};

inline std::string label_of(const api::Meta& meta, std::string_view key) {
  return std::string(meta.label(key).value_or(""));
}

}  // namespace muster::sim
