// Kinds and objects as people name them: js, jobs.batch, pod/x. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/registry.h"
#include "base/result.h"

namespace muster::cli {

// By plural, singular, kind, short name or an alias of ours (js), with or without
// ".group"; letters in any case. Fails with a guess at what was meant.
Result<const api::Resource*> find_kind(const api::Registry& registry, std::string_view word);

struct Wanted {
  const api::Resource* resource = nullptr;
  std::vector<std::string> names;  // empty: all of them
};

// "jobs a b", "jobs,pods", "job/a pod/b" and "all" as what is wanted of each kind, in that order.
Result<std::vector<Wanted>> parse_wanted(const api::Registry& registry,
                                         const std::vector<std::string>& words);

const api::Resource& job_sets();
const api::Resource& jobs();
const api::Resource& pods();

// 'no JobSet "trian" in namespace default; did you mean "train"? Others: eval, prep'.
std::string missing_object(const api::Resource& resource, std::string_view ns,
                           std::string_view name, const std::vector<std::string>& present);

}  // namespace muster::cli
