// Counts and times the requests that were answered. Any thread.
#pragma once

#include <array>
#include <compare>
#include <map>
#include <mutex>
#include <string_view>

#include "api/schema/registry.h"
#include "base/clock.h"
#include "base/metrics.h"

namespace muster::server {

class RequestMetrics {
 public:
  explicit RequestMetrics(Metrics& metrics) : metrics_(metrics) {}

  void note(std::string_view verb, const api::Resource* resource, int status, Duration took);

 private:
  // Labels come from closed sets: whoever invents methods must not be able to fill our memory with
  // counters.
  static constexpr std::array<std::string_view, 11> kVerbs{
      "get",  "list", "watch", "create", "update", "patch", "delete", "deletecollection",
      "post", "put",  "other"};
  struct Series {
    std::size_t verb;
    const api::Resource* resource;  // of the registry, or null
    int status;
    auto operator<=>(const Series&) const = default;
  };

  Metrics::Counter& counter(const Series& series);
  Metrics::Histogram& durations(std::size_t verb);

  Metrics& metrics_;
  // What was looked up before: to name a series anew for each request takes longer than to count.
  std::mutex mutex_;
  std::map<Series, Metrics::Counter*> counters_;
  std::array<Metrics::Histogram*, kVerbs.size()> durations_{};
};

}  // namespace muster::server
