// The containers that pods have, to be asked for by name. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace muster::cli {

class ContainerNames {
 public:
  // Those of a pod's spec; names that are known already are not added again.
  void add(json::Value pod_spec);
  bool has(std::string_view name) const;
  // As kubectl lists them: "main, side (init)".
  std::string text() const;

 private:
  struct Container {
    std::string name;
    bool is_init = false;
  };
  std::vector<Container> containers_;
};

// Of the pods that an object makes; of a pod, its own.
ContainerNames container_names(json::Value object);

}  // namespace muster::cli
