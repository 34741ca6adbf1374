// Kinds and objects as people name them together: jobs a b, pod/x. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/input/kind_catalog.h"

namespace muster::cli {

struct Wanted {
  const api::Resource* resource = nullptr;
  std::vector<std::string> names;  // empty: all of them
};

// "jobs a b", "jobs,pods", "job/a pod/b" and "all" as what is wanted of each kind, in that order.
Result<std::vector<Wanted>> parse_wanted(KindCatalog& kinds, const std::vector<std::string>& words);

const api::Resource& job_sets();
const api::Resource& jobs();
const api::Resource& pods();
const api::Resource& namespaces();

// The labels of a JobSet's pods. One of the same name that was there before has others.
std::string pods_of_job_set(std::string_view uid);

// "jobset.jobset.x-k8s.io", "pod": as kubectl names the kind of an object that it has worked on.
std::string qualified_singular(const api::Resource& resource);

// 'did you mean "train"? Others: eval, prep', 'There are: eval' or nothing.
std::string other_names(std::string_view name, const std::vector<std::string>& present);

// 'no JobSet "trian" in namespace default; did you mean "train"? Others: eval, prep'.
std::string missing_object(const api::Resource& resource, std::string_view ns,
                           std::string_view name, const std::vector<std::string>& present);

}  // namespace muster::cli
