// Writes as pure plans: a Plan looks at one snapshot and says what to store and what to answer.
// carry_out() stores it, and if somebody else was faster makes the plan again on the fresh state.
// Internal to server/.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "admission/admission.h"
#include "json/value.h"
#include "server/call.h"
#include "store/store.h"

namespace muster::server {

// Other objects, as admission sees them: those of one snapshot.
class SnapshotView final : public admission::View {
 public:
  SnapshotView(store::SnapshotPtr snapshot, const api::Registry& registry)
      : snapshot_(std::move(snapshot)), registry_(registry) {}
  std::string_view find(std::string_view group, std::string_view plural, std::string_view ns,
                        std::string_view name) const override;
  std::vector<std::string_view> list(std::string_view group, std::string_view plural,
                                     std::string_view ns) const override;
  std::vector<std::string_view> list_like(std::string_view group, std::string_view plural,
                                          std::string_view ns,
                                          const Likeness& likeness) const override;

 private:
  store::SnapshotPtr snapshot_;
  const api::Registry& registry_;
};

// One try at a write. Everything that it makes lives in its arena.
struct Attempt {
  Attempt(Call& the_call, store::SnapshotPtr the_snapshot);

  Call& call;
  const store::SnapshotPtr snapshot;
  const SnapshotView view;
  const Time now;
  json::Arena arena;
  store::ObjectPtr committed;  // what the plan before this one (Outcome::next) stored, if anything

  // `resource` in the version of the request; name and namespace of the call.
  admission::Context context(admission::Operation operation, bool dry_run);
  store::ObjectPtr find(const api::Resource& resource, std::string_view ns,
                        std::string_view name) const;
};

struct Outcome;
using Plan = std::function<Result<Outcome>(Attempt&)>;

struct Outcome {
  int status = 200;
  std::optional<store::Write> write;  // none: nothing changes
  store::ObjectPtr shown;             // the answer, where it is not the stored object
  std::string body;                   // or this text
  Plan next;                          // or this plan, on the state after the write
};

// A request that cannot get its write in for this long gives up; so does upstream's.
constexpr Duration kRequestLimit = std::chrono::seconds(34);
// Whether the store refused a write because the object is not as the plan saw it.
bool overtaken(const Error& error);

// Answers the call with the outcome.
void carry_out(const CallPtr& call, Plan plan);

// The same as a part of something larger: `done` is called once, on the exchange's own thread
// (perhaps before this returns), unless the client goes away first. A call that belongs to a list
// (Call::list) hands its plan to the list.
using Done = std::move_only_function<void(Result<Outcome>, store::ObjectPtr stored)>;
void carry_out(const CallPtr& call, Plan plan, Done done);

}  // namespace muster::server
