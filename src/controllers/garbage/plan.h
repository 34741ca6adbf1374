// What becomes of one object because of its owners, or of what it owns (spec: job 3.3).
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <vector>

#include "api/registry.h"
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

struct Verdict {
  Plan plan;
  // The server must be asked about these before anything can be decided; the plan is empty then.
  std::vector<Place> ask;
};

// Pure: reads its arguments and nothing else.
Verdict judge(const Surroundings& around, const Item& item);

}  // namespace muster::controllers::garbage
