// A Job's next status, in the making.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/schema/registry.h"
#include "base/time.h"
#include "client/client.h"
#include "controllers/job/job_view.h"
#include "json/value.h"

namespace muster::controllers::job {

class StatusDraft {
 public:
  explicit StatusDraft(const Job& job);  // as it is stored

  // `active`, `succeeded` and `failed` are absent at 0; the others are always told.
  void set_count(std::string_view key, std::int64_t count);
  void set_number(std::string_view key, std::int64_t number);
  void set_text(std::string_view key, std::string_view text);  // absent if it is empty
  void set_always(std::string_view key, std::string_view text);
  void set_time(std::string_view key, std::optional<Time> time);  // absent if there is none
  void set_uncounted(std::span<const std::string> succeeded, std::span<const std::string> failed);

  void add_condition(std::string_view type, std::string_view reason, std::string_view message,
                     Time now);
  // True if that changed something. A condition that is not there is not added only to say False.
  bool ensure_condition(std::string_view type, bool holds, std::string_view reason,
                        std::string_view message, Time now);

  void mark();  // from here on:
  bool changed_since_mark() const;
  // Nothing if nothing changed. Succeeded on the stored version only.
  std::optional<client::Operation> operation(const api::Resource& jobs) const;

 private:
  const Job& job_;
  json::Arena arena_;
  json::Value before_;
  json::Value marked_;
  json::Value after_;
};

}  // namespace muster::controllers::job
