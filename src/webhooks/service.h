// The webhooks as an HTTP handler: what the rules want to know is fetched from the API server.
#pragma once

#include <memory>
#include <string>

#include "base/http.h"
#include "base/metrics.h"
#include "client/client.h"
#include "webhooks/review.h"

namespace muster::webhooks {

class Service {
 public:
  // Questions are settled through the client, on its loop, which must run. All must outlive the
  // service.
  Service(client::Client& client, Metrics& metrics, Settings settings);

  // On any thread. Rules that ask nothing, which is nearly all, are answered there and at once.
  void handle(const std::shared_ptr<http::Exchange>& exchange);

 private:
  struct Pending;
  void try_to_answer(const std::shared_ptr<Pending>& pending);
  void settle(const std::shared_ptr<Pending>& pending, std::vector<Question> questions);
  void took_answer(const std::shared_ptr<Pending>& pending, const Question& question,
                   Result<std::string> body);

  client::Client& client_;
  Metrics::Counter& requests_;
  Settings settings_;
};

}  // namespace muster::webhooks
