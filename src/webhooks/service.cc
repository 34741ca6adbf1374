#include "webhooks/service.h"

#include <fmt/format.h>

#include "base/log.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::webhooks {
namespace {

// A leader, its node: rules that ask more often than this go round in circles.
constexpr int kMaxRounds = 4;

void respond(http::Exchange& exchange, int status, std::string_view type, std::string text) {
  http::Response response{.status = status, .headers = {{"Content-Type", std::string(type)}}};
  response.body.push_back(http::Chunk::own(std::move(text)));
  exchange.respond(std::move(response));
}

void respond(http::Exchange& exchange, const Result<std::string>& answer) {
  if (answer) return respond(exchange, 200, "application/json", *answer);
  respond(exchange, 400, "text/plain; charset=utf-8", answer.error().message + "\n");
}

std::string_view path_of(const http::Request& request) {
  const std::string_view target = request.target;
  return target.substr(0, target.find('?'));
}

// The objects of an answer; none if there is no such thing.
Result<std::vector<std::string>> objects_of(const Question& question, Result<std::string> body) {
  if (!body && body.error().code == Code::kNotFound) return std::vector<std::string>{};
  if (!body) return std::unexpected(std::move(body).error());
  if (!question.name.empty()) return std::vector<std::string>{*std::move(body)};
  json::Arena arena;
  MUSTER_TRY(const json::Value list, json::parse(arena, *body));
  std::vector<std::string> objects;
  for (const json::Value item : list.get("items").items()) objects.push_back(json::write(item));
  return objects;
}

}  // namespace

// A review on its way. On one thread at a time.
struct Service::Pending {
  Pending(std::shared_ptr<http::Exchange> asked, const Hook& the_hook,
          const api::Registry& registry)
      : exchange(std::move(asked)), hook(the_hook), knowledge(registry) {}

  const std::string& body() const { return exchange->request().body; }

  std::shared_ptr<http::Exchange> exchange;
  const Hook& hook;
  Knowledge knowledge;
  int rounds = 0;
  std::size_t open = 0;  // questions without an answer
  Status trouble;        // why one of them has none
};

Service::Service(client::Client& client, Metrics& metrics, Settings settings)
    : client_(client),
      requests_(metrics.counter("muster_webhook_requests_total", "Admission reviews answered.")),
      settings_(std::move(settings)) {}

void Service::handle(const std::shared_ptr<http::Exchange>& exchange) {
  const Hook* hook = find_hook(path_of(exchange->request()));
  if (hook == nullptr) return respond(*exchange, 404, "text/plain", "404 page not found\n");
  if (exchange->request().method != "POST")
    return respond(*exchange, 405, "text/plain", "a review is sent by POST\n");
  requests_.add();
  try_to_answer(std::make_shared<Pending>(exchange, *hook, settings_.registry));
}

void Service::try_to_answer(const std::shared_ptr<Pending>& pending) {
  auto answer = answer_review(pending->hook, settings_, pending->knowledge, pending->body(),
                              client_.loop().clock().now());
  std::vector<Question> questions = pending->knowledge.take_questions();
  if (questions.empty() || !answer) return respond(*pending->exchange, answer);
  MUSTER_ASSERT(++pending->rounds <= kMaxRounds, "the rules of a webhook ask without end");
  client_.loop().post([this, pending, questions = std::move(questions)]() mutable {
    settle(pending, std::move(questions));
  });
}

void Service::settle(const std::shared_ptr<Pending>& pending, std::vector<Question> questions) {
  pending->open = questions.size();
  for (Question& question : questions) {
    const api::Resource& resource = *question.resource;
    auto reply = [this, pending, question](Result<std::string> body) {
      took_answer(pending, question, std::move(body));
    };
    if (!question.name.empty()) {
      client_.get(resource, question.ns, question.name, std::move(reply));
    } else {
      client_.list(resource, {.ns = question.ns, .label_selector = question.labels},
                   std::move(reply));
    }
  }
}

void Service::took_answer(const std::shared_ptr<Pending>& pending, const Question& question,
                          Result<std::string> body) {
  auto objects = objects_of(question, std::move(body));
  if (objects) {
    pending->knowledge.answer(question, *std::move(objects));
  } else {
    pending->trouble =
        fail(Code::kInternal, fmt::format("cannot look up {}: {}", question.resource->qualified(),
                                          objects.error().message));
  }
  if (--pending->open > 0) return;
  if (pending->trouble) return try_to_answer(pending);
  log::warn("a review could not be settled",
            {{"webhook", pending->hook.name}, {"why", pending->trouble.error().message}});
  respond(*pending->exchange, deny_review(pending->body(), pending->trouble.error()));
}

}  // namespace muster::webhooks
