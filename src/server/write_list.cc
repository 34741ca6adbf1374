#include "server/write_list.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "server/errors.h"

namespace muster::server {
namespace {

// The answer of all others when one call of a list is refused. Its details are of that one.
Error not_done(std::size_t refused, std::size_t count, const Error& why) {
  return {.code = Code::kConflict,
          .message = fmt::format("nothing was written, because request {} of {} was refused: {}",
                                 refused + 1, count, why.message),
          .name = why.name,
          .group = why.group,
          .kind = why.kind};
}

Error answered_already(const Call& call) {
  return {.message = fmt::format("{} {}", call.request().method, call.request().target),
          .name = call.info.name,
          .group = call.info.group,
          .kind = call.info.resource};
}

}  // namespace

bool WriteList::takes(const RequestInfo& info) {
  static constexpr std::array<std::string_view, 4> kVerbs{"create", "update", "patch", "delete"};
  return info.is_resource && std::ranges::find(kVerbs, info.verb) != kVerbs.end();
}

Error WriteList::cannot_take() {
  return bad_request("only writes of one object, in one step each, can be done together");
}

WriteList::WriteList(std::vector<CallPtr> calls) {
  entries_.reserve(calls.size());
  for (CallPtr& call : calls) {
    Entry entry;
    entry.call = std::move(call);
    entries_.push_back(std::move(entry));
  }
}

void WriteList::carry_out(std::vector<CallPtr> calls,
                          const std::function<void(const CallPtr&)>& route) {
  if (calls.empty()) return;
  const std::shared_ptr<WriteList> list(new WriteList(std::move(calls)));
  if (list->collect(route)) list->attempt();
}

bool WriteList::collect(const std::function<void(const CallPtr&)>& route) {
  for (routed_ = 0; routed_ < entries_.size(); ++routed_) {
    Entry& entry = entries_[routed_];
    entry.call->list = this;
    route(entry.call);
    entry.call->list = nullptr;
    if (!entry.plan) {
      refuse(routed_, answered_already(*entry.call));
      return false;
    }
    entry.warnings = entry.call->warnings.size();
  }
  return true;
}

void WriteList::take(Plan plan, Done done) {
  Entry& entry = entries_[routed_];
  MUSTER_ASSERT(!entry.plan, "a call of a list makes one plan");
  entry.plan = std::move(plan);
  entry.done = std::move(done);
}

void WriteList::attempt() {
  std::size_t refused = 0;
  Result<std::vector<store::Write>> list = plan_all(refused);
  if (!list) return refuse(refused, list.error());
  const CallPtr& first = entries_.front().call;
  first->core->store.submit(
      *std::move(list),
      [self = shared_from_this(), exchange = first->exchange](store::ListResult written) mutable {
        // On the commit thread: everything that takes time is left to the exchanges' own.
        exchange->post([self = std::move(self), written = std::move(written)]() mutable {
          self->committed(std::move(written));
        });
      });
}

Result<std::vector<store::Write>> WriteList::plan_all(std::size_t& refused) {
  const store::SnapshotPtr snapshot = entries_.front().call->core->store.snapshot();
  std::vector<store::Write> list;
  std::set<std::tuple<int, std::string, std::string>> objects;
  for (refused = 0; refused < entries_.size(); ++refused) {
    Entry& entry = entries_[refused];
    MUSTER_TRY(std::optional<store::Write> write, plan_one(entry, snapshot));
    entry.writes = write.has_value();
    if (!write) continue;
    // The plan has not seen the other write: carried out again and again it would never fit.
    const store::Key& key = write->key;
    if (!objects.emplace(key.resource, key.ns, key.name).second) {
      return fail(Code::kBadRequest, fmt::format("an earlier request of the list writes the same "
                                                 "object, \"{}\"",
                                                 key.name));
    }
    list.push_back(*std::move(write));
  }
  return list;
}

Result<std::optional<store::Write>> WriteList::plan_one(Entry& entry,
                                                        const store::SnapshotPtr& snapshot) {
  entry.call->warnings.resize(entry.warnings);  // those of the last attempt are said again
  Attempt attempt(*entry.call, snapshot);
  MUSTER_TRY(entry.outcome, entry.plan(attempt));
  if (entry.outcome.next) return std::unexpected(cannot_take());
  return std::exchange(entry.outcome.write, std::nullopt);
}

void WriteList::committed(store::ListResult written) {
  if (written) return finish(*written);
  const auto& [error, refused] = written.error();
  if (!refused || !overtaken(error)) return fail_all(error);
  const Call& first = *entries_.front().call;
  if (first.core->clock.now() - first.started > kRequestLimit)
    return fail_all(timed_out("request did not complete within the allotted timeout"));
  attempt();
}

void WriteList::finish(const std::vector<store::ObjectPtr>& stored) {
  std::size_t next = 0;
  for (Entry& entry : entries_)
    entry.done(std::move(entry.outcome), entry.writes ? stored[next++] : nullptr);
}

void WriteList::refuse(std::size_t refused, const Error& why) {
  const Error others = not_done(refused, entries_.size(), why);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    // What has answered its call already keeps that answer.
    if (entry.plan) {
      entry.done(std::unexpected(i == refused ? why : others), nullptr);
    } else {
      entry.call->answer_error(i == refused ? why : others);
    }
  }
}

void WriteList::fail_all(const Error& error) {
  for (Entry& entry : entries_) entry.done(std::unexpected(error), nullptr);
}

}  // namespace muster::server
