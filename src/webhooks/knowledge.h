// What one review knows of other objects. The rules ask for them as if all were there; what is not
// is noted as a question. Whoever runs the rules fetches the answers and runs them again, so that
// rules stay plain functions and only what they really want to know is fetched.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "admission/admission.h"
#include "api/schema/registry.h"

namespace muster::webhooks {

// One object, or, without a name, those of a namespace that carry the labels.
struct Question {
  const api::Resource* resource = nullptr;
  std::string ns;
  std::string name;
  std::string labels;
  auto operator<=>(const Question&) const = default;
};

class Knowledge final : public admission::View {
 public:
  explicit Knowledge(const api::Registry& registry) : registry_(registry) {}

  std::string_view find(std::string_view group, std::string_view plural, std::string_view ns,
                        std::string_view name) const override;
  std::vector<std::string_view> list(std::string_view group, std::string_view plural,
                                     std::string_view ns) const override;
  std::vector<std::string_view> list_like(std::string_view group, std::string_view plural,
                                          std::string_view ns,
                                          const Likeness& likeness) const override;

  // Asked since the last call and not known: until they are answered, what the rules said is void.
  std::vector<Question> take_questions() { return std::exchange(questions_, {}); }
  void answer(Question question, std::vector<std::string> objects);  // none: there is no such thing

 private:
  std::vector<std::string_view> ask(std::string_view group, std::string_view plural,
                                    Question question) const;

  const api::Registry& registry_;
  std::map<Question, std::vector<std::string>> known_;
  mutable std::vector<Question> questions_;
};

}  // namespace muster::webhooks
