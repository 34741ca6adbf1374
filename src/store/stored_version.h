// Objects that an earlier release stored in a version that is no longer the stored one of their
// kind (docs/kinds.md, "Versions of a kind").
#pragma once

#include <string>
#include <string_view>

#include "api/schema/registry.h"

namespace muster::store {

// Of a kind by its group and plural name. A null pointer if it is no built-in kind of several
// versions: then all its records are in the version that is stored.
const api::Resource* storage_of_versions(std::string_view group, std::string_view plural);

// The text of a record in the version of `storage`. Others than those of a known version stay as
// they are: what is wrong with them is said elsewhere.
std::string in_stored_version(std::string_view text, const api::Resource& storage);

}  // namespace muster::store
