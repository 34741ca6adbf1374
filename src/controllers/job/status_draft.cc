#include "controllers/job/status_draft.h"

#include "controllers/runtime/writes.h"
#include "json/parse.h"

namespace muster::controllers::job {
namespace {

using json::Value;

void fill_condition(Value condition, bool holds, std::string_view reason, std::string_view message,
                    Time now) {
  condition.set("status", holds ? "True" : "False");
  condition.set("lastProbeTime", format_time(now));
  condition.set("lastTransitionTime", format_time(now));
  condition.set("reason", reason);
  condition.set("message", message);
}

}  // namespace

StatusDraft::StatusDraft(const Job& job) : job_(job) {
  const auto stored = json::parse(arena_, job.status_json);
  MUSTER_ASSERT(stored.has_value(), "the status was written by json::write");
  before_ = marked_ = *stored;
  after_ = json::clone(arena_, before_);
}

void StatusDraft::set_count(std::string_view key, std::int64_t count) {
  count == 0 ? void(after_.erase(key)) : set_number(key, count);
}

void StatusDraft::set_number(std::string_view key, std::int64_t number) {
  after_.set(key, Value::of(number));
}

void StatusDraft::set_text(std::string_view key, std::string_view text) {
  text.empty() ? void(after_.erase(key)) : after_.set(key, text);
}

void StatusDraft::set_always(std::string_view key, std::string_view text) { after_.set(key, text); }

void StatusDraft::set_time(std::string_view key, std::optional<Time> time) {
  time ? after_.set(key, format_time(*time)) : void(after_.erase(key));
}

void StatusDraft::set_uncounted(std::span<const std::string> succeeded,
                                std::span<const std::string> failed) {
  Value uncounted = Value::object(arena_);
  const auto add = [&](std::string_view key, std::span<const std::string> uids) {
    if (uids.empty()) return;
    const Value list = uncounted.array_at(key);
    for (const std::string& uid : uids) list.push_back(Value::string(arena_, uid));
  };
  add("succeeded", succeeded);
  add("failed", failed);
  after_.set("uncountedTerminatedPods", uncounted);
}

void StatusDraft::add_condition(std::string_view type, std::string_view reason,
                                std::string_view message, Time now) {
  Value condition = Value::object(arena_);
  condition.set("type", type);
  fill_condition(condition, true, reason, message, now);
  after_.array_at("conditions").push_back(condition);
}

bool StatusDraft::ensure_condition(std::string_view type, bool holds, std::string_view reason,
                                   std::string_view message, Time now) {
  const std::string_view status = holds ? "True" : "False";
  for (const Value condition : after_.get("conditions").items()) {
    if (condition.get("type").as_string() != type) continue;
    const bool same = condition.get("status").as_string() == status &&
                      condition.get("reason").as_string() == reason &&
                      condition.get("message").as_string() == message;
    if (!same) fill_condition(condition, holds, reason, message, now);
    return !same;
  }
  if (holds) add_condition(type, reason, message, now);
  return holds;
}

void StatusDraft::mark() { marked_ = json::clone(arena_, after_); }

bool StatusDraft::changed_since_mark() const { return !json::equal(marked_, after_); }

std::optional<client::Operation> StatusDraft::operation(const api::Resource& jobs) const {
  return patch_status(jobs, job_.ref, before_, after_);
}

}  // namespace muster::controllers::job
