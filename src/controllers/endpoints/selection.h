// Who selects whom. Services are found by the first pair of their selector, pods by those labels
// that some selector begins with: what an event costs does not grow with the number of Services and
// pods that have nothing to do with it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controllers/endpoints/views.h"

namespace muster::controllers::endpoints {

class Selection {
 public:
  using Pods = std::map<std::string, std::unique_ptr<const Pod>, std::less<>>;
  // `pods` are all that there are, also when changes are told. It outlives the selection.
  explicit Selection(const Pods& pods) : pods_(pods) {}

  // As a cache's handlers have them. What is told stays where it is until it is told to be before.
  void service_changed(const Service* before, const Service* after);
  void pod_changed(const Pod* before, const Pod* after);

  // Of its namespace, in an order that depends on nothing else.
  std::vector<const Service*> services_of(const Pod& pod) const;
  // Of its namespace, in the order of their names; none if it has no selector.
  std::vector<const Pod*> pods_of(const Service& service) const;

 private:
  struct Group {  // by name
    std::map<std::string, const Service*> services;
    std::map<std::string, const Pod*> pods;
    bool is_empty() const { return services.empty() && pods.empty(); }
  };
  using Place = std::pair<std::string, std::string>;  // a namespace, and the value of a label
  struct Label {
    std::size_t services = 0;  // whose selector begins with it; never 0
    std::map<Place, Group> groups;
  };

  void add(const Service& service);
  void remove(const Service& service);

  const Pods& pods_;
  std::map<std::string, Label> labels_;  // by key
};

}  // namespace muster::controllers::endpoints
