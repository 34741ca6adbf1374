// What must hold at every revision of every run: judges each change by all rules (rules.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/invariants/rule.h"

namespace muster::sim {

class Invariants {
 public:
  Invariants();  // all rules
  explicit Invariants(std::vector<std::unique_ptr<Rule>> rules) : rules_(std::move(rules)) {}

  // Of a JobSet, a Job or a Pod; other kinds are ignored.
  void took(const store::Event& event);
  void check_at_rest(const std::vector<store::ObjectPtr>& all);

  const Violations& violations() const { return violations_; }

 private:
  void judge(const Change& change);

  std::vector<std::unique_ptr<Rule>> rules_;
  Present present_;
  Violations violations_;
};

}  // namespace muster::sim
