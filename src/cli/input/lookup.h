// Objects by the names that people give.
#pragma once

#include <string>
#include <vector>

#include "cli/input/connection.h"
#include "cli/input/kinds.h"

namespace muster::cli {

// The error of a request; one about a kind that the server does not have says so.
Error explain_unserved(const api::Resource& resource, const Error& error);

// The error of a get; if nothing was found, with a guess at what was meant and what else is there.
Error explain_missing(Connection& connection, const api::Resource& resource, std::string_view name,
                      const Error& error);

// What an object that is not there may have been meant to be called; empty if there is nothing.
std::string meant_instead(Connection& connection, const api::Resource& resource,
                          std::string_view ns, std::string_view name);

// What verbs make of a first word that is no kind but the name of a JobSet.
enum class BareName : std::uint8_t { kIsJobSet, kIsRefused };
// parse_wanted() with the kinds of the server; the error says what may have been meant.
Result<std::vector<Wanted>> find_wanted(Connection& connection,
                                        const std::vector<std::string>& words, BareName bare);

struct Found {
  const api::Resource* resource = nullptr;
  std::string name;
  std::string body;
};

std::string uid_of(const Found& found);

// "jobset/x", "pod/x", or a bare name, which is looked for among the kinds in their order.
Result<Found> find_object(Connection& connection, std::string_view word,
                          const std::vector<const api::Resource*>& kinds);

}  // namespace muster::cli
