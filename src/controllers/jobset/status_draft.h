// A JobSet's status while a pass works on it: what has changed, and what people are to be told
// about it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/views/views.h"
#include "controllers/runtime/plan.h"

namespace muster::controllers::jobset {

// The JobSet as events and owner references name it.
ObjectRef ref_of(const api::JobSet& set);

struct NewCondition {
  std::string_view type;
  bool is_true = true;
  std::string_view reason;
  std::string_view message;
  bool warning = false;  // how serious its event is
};

class StatusDraft {
 public:
  StatusDraft(const api::JobSet& set, Time now) : set_(set), now_(now), status_(set.status) {}

  // The rule of section 3.16. Each change is told with the condition's own reason and message.
  void set_condition(const NewCondition& wanted);
  // A condition of our own, which is not told, and is gone when there is nothing to say.
  void set_or_remove(std::string_view type, const std::optional<api::Condition>& wanted);
  void tell(bool warning, std::string_view reason, std::string message);

  api::JobSetStatus& edit() { return status_; }
  const api::JobSetStatus& status() const { return status_; }
  bool is_changed() const { return status_ != set_.status; }
  bool only_counts_changed() const;  // and what is waited for, which has counts in it too
  std::vector<Event> take_events() { return std::move(events_); }

 private:
  bool exclude(std::string_view type);

  const api::JobSet& set_;
  Time now_;
  api::JobSetStatus status_;
  std::vector<Event> events_;
};

// What turns the stored status into the new one, as a merge patch of the whole object. Must be
// told only if it changes something.
json::Value status_patch(json::Arena& arena, const api::JobSetStatus& before,
                         const api::JobSetStatus& after);

}  // namespace muster::controllers::jobset
