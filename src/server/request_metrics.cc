#include "server/request_metrics.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace muster::server {

void RequestMetrics::note(std::string_view verb, const api::Resource* resource, int status,
                          Duration took) {
  const auto known = std::ranges::find(kVerbs, verb);
  const auto place = static_cast<std::size_t>(known - kVerbs.begin());
  const std::size_t at = std::min(place, kVerbs.size() - 1);
  Metrics::Counter* requests = nullptr;
  Metrics::Histogram* times = nullptr;
  {
    const std::lock_guard lock(mutex_);
    requests = &counter({at, resource, status});
    times = &durations(at);
  }
  requests->add();
  times->observe(std::chrono::duration<double>(took).count());
}

Metrics::Counter& RequestMetrics::counter(const Series& series) {
  Metrics::Counter*& known = counters_[series];
  if (known == nullptr) {
    known =
        &metrics_.counter("apiserver_request_total", "Requests answered.",
                          {{"verb", std::string(kVerbs[series.verb])},
                           {"resource", series.resource == nullptr ? "" : series.resource->plural},
                           {"code", std::to_string(series.status)}});
  }
  return *known;
}

Metrics::Histogram& RequestMetrics::durations(std::size_t verb) {
  static constexpr std::array kBuckets = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                          0.25,  0.5,    1.0,   2.5,  5.0,   10.0, 60.0};
  Metrics::Histogram*& known = durations_[verb];
  if (known == nullptr) {
    known = &metrics_.histogram(
        "apiserver_request_duration_seconds", "Time from a request to its answer.",
        {kBuckets.begin(), kBuckets.end()}, {{"verb", std::string(kVerbs[verb])}});
  }
  return *known;
}

}  // namespace muster::server
