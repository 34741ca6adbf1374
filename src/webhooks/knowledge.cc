#include "webhooks/knowledge.h"

namespace muster::webhooks {

std::vector<std::string_view> Knowledge::ask(std::string_view group, std::string_view plural,
                                             Question question) const {
  question.resource = registry_.find_storage(group, plural);
  if (question.resource == nullptr) return {};
  const auto known = known_.find(question);
  if (known != known_.end()) return {known->second.begin(), known->second.end()};
  questions_.push_back(std::move(question));
  return {};
}

std::string_view Knowledge::find(std::string_view group, std::string_view plural,
                                 std::string_view ns, std::string_view name) const {
  if (name.empty()) return {};
  const auto found = ask(group, plural, {.ns = std::string(ns), .name = std::string(name)});
  return found.empty() ? std::string_view() : found.front();
}

std::vector<std::string_view> Knowledge::list(std::string_view group, std::string_view plural,
                                              std::string_view ns) const {
  return ask(group, plural, {.ns = std::string(ns)});
}

std::vector<std::string_view> Knowledge::list_like(std::string_view group, std::string_view plural,
                                                   std::string_view ns,
                                                   const Likeness& likeness) const {
  return ask(group, plural, {.ns = std::string(ns), .labels = std::string(likeness.labels)});
}

void Knowledge::answer(Question question, std::vector<std::string> objects) {
  known_.insert_or_assign(std::move(question), std::move(objects));
}

}  // namespace muster::webhooks
