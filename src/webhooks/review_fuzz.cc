// Anybody who reaches the webhooks' port may send anything: it is answered or refused, and the same
// way twice.
#include <fmt/format.h>

#include <cstdint>
#include <span>

#include "json/parse.h"
#include "webhooks/review.h"

namespace muster::webhooks {
namespace {

// The text as the object of a review that the hook is for; text that is no JSON as the whole body.
std::string body_with(const Hook& hook, bool update, std::string_view text) {
  if (!json::is_json(text)) return std::string(text);
  return fmt::format(
      R"({{"apiVersion":"admission.k8s.io/v1","request":{{"uid":"u","namespace":"ns","resource":
          {{"group":"{}","version":"{}","resource":"{}"}},"operation":"{}","object":{},
          "oldObject":{}}}}})",
      hook.group, hook.version, hook.plural, update ? "UPDATE" : "CREATE", text, text);
}

Result<std::string> answer(const Hook& hook, const std::string& body) {
  static const Settings settings{.registry = api::Registry::builtin(), .gates = {}};
  Knowledge knowledge(settings.registry);
  (void)answer_review(hook, settings, knowledge, body, Time{});
  for (Question& question : knowledge.take_questions()) {
    // A pod that may be the leader, and no node: the rules go on.
    std::vector<std::string> objects;
    if (question.name.empty()) objects.emplace_back(R"({"metadata":{"name":"a-b-0-0-x"}})");
    knowledge.answer(std::move(question), std::move(objects));
  }
  return answer_review(hook, settings, knowledge, body, Time{});
}

}  // namespace
}  // namespace muster::webhooks

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  if (size == 0) return 0;
  const auto hooks = webhooks::all_hooks();
  const webhooks::Hook& hook = hooks[data[0] % hooks.size()];
  const bool update = (data[0] & 0x80) != 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string body = webhooks::body_with(hook, update, text);
  const auto first = webhooks::answer(hook, body);
  const auto second = webhooks::answer(hook, body);
  MUSTER_ASSERT(first.has_value() == second.has_value(), "an answer depends on the body alone");
  MUSTER_ASSERT(!first || json::is_json(*first), "an answer is JSON");
  return 0;
}
