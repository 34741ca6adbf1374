// What becomes of one object because of its owners, or of what it owns (spec: job 3.3).
#pragma once

#include <compare>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "api/schema/registry.h"
#include "controllers/garbage/graph.h"
#include "controllers/runtime/plan.h"

namespace muster::controllers::garbage {

// The place where a reference says that an owner is.
struct Place {
  const api::Resource* resource = nullptr;
  std::string ns;
  std::string name;
  std::string uid;
  auto operator<=>(const Place&) const = default;
};

// What the server said about an owner that the graph has not seen there.
enum class Answer : std::uint8_t { kNotAsked, kAbsent, kPresent };

struct Surroundings {
  const Graph& graph;
  const api::Registry& registry;
  std::function<Answer(const Place&)> answer;
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

}  // namespace muster::controllers::garbage
