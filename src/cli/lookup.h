// Objects by the names that people give.
#pragma once

#include <string>
#include <vector>

#include "cli/connection.h"

namespace muster::cli {

// The error of a get; if nothing was found, with a guess at what was meant and what else is there.
Error explain_missing(Connection& connection, const api::Resource& resource, std::string_view name,
                      const Error& error);

struct Found {
  const api::Resource* resource = nullptr;
  std::string name;
  std::string body;
};

// "jobset/x", "pod/x", or a bare name, which is looked for among the kinds in their order.
Result<Found> find_object(Connection& connection, std::string_view word,
                          const std::vector<const api::Resource*>& kinds);

}  // namespace muster::cli
