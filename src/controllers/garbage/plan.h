// What becomes of one object because of its owners, or of what it owns (spec: job 3.3).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "api/schema/registry.h"
#include "controllers/garbage/graph.h"
#include "controllers/runtime/plan.h"

namespace muster::controllers::garbage {

// What the server said about an owner that the graph has not seen there.
enum class Answer : std::uint8_t { kNotAsked, kAbsent, kPresent };

struct Surroundings {
  const Graph& graph;
  const api::Registry& registry;
};

struct Question {
  std::size_t reference = 0;  // of the item's ownerReferences
  Place place;
};

// An object may have thousands of owners. A few questions at a time leave room for those of others.
inline constexpr std::size_t kMostQuestions = 4;

struct Verdict {
  Plan plan;
  // The server must be asked about these before anything can be decided; the plan is empty then.
  // There may be more to ask afterwards.
  std::vector<Question> ask;
};

// `found` are answers to earlier questions about this item, one per ownerReference, or none.
// Pure: reads its arguments and nothing else.
Verdict judge(const Surroundings& around, const Item& item, std::span<const Answer> found = {});

// How much longer the root of a tree that goes in the foreground waits for what it owns to be seen;
// nothing if it may be judged. `known_up_to`: every change of every kind up to this revision has
// been seen. `waited`: since the root was seen to go.
//
// What it owns must be gone before it, and with kinds that are watched apart the newest of that may
// still be on its way. The wait ends as soon as all kinds are known up to the root's deletion.
// Branches do not wait: restarts wait for them, and they go with their root. Pure.
std::optional<Duration> unsettled(const Item& item, store::Revision known_up_to, Duration waited);

}  // namespace muster::controllers::garbage
