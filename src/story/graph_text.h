// The order in which a JobSet's replicated jobs start, as a picture. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/views/views.h"

namespace muster::story {

struct Edge {
  std::string from;
  std::string to;
  std::string when;  // Ready or Complete
};

// dependsOn, or one after the other for startupPolicy InOrder.
std::vector<Edge> edges_of(const api::JobSet& set);

// `form` is text, dot or mermaid.
std::string graph(const api::JobSet& set, std::string_view form);

}  // namespace muster::story
