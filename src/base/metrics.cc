#include "base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/result.h"

namespace muster {
namespace {

struct CounterHandle final : Metrics::Counter {
  CounterHandle(prometheus::Family<prometheus::Counter>& f, prometheus::Counter& c)
      : family(f), counter(c) {}
  void add(double by) override { counter.Increment(by); }
  prometheus::Family<prometheus::Counter>& family;
  prometheus::Counter& counter;
};

struct GaugeHandle final : Metrics::Gauge {
  explicit GaugeHandle(prometheus::Gauge& g) : gauge(g) {}
  void set(double value) override { gauge.Set(value); }
  void add(double by) override { gauge.Increment(by); }
  prometheus::Gauge& gauge;
};

struct HistogramHandle final : Metrics::Histogram {
  explicit HistogramHandle(prometheus::Histogram& h) : histogram(h) {}
  void observe(double value) override { histogram.Observe(value); }
  prometheus::Histogram& histogram;
};

using Id = std::pair<std::string, Metrics::Labels>;

// The handle for an id; made on first use. The library throws on names that Prometheus forbids and
// on a name that already is of another type: both are faults of the program.
template <class Handle, class Make>
Handle& find_or_make(std::map<Id, std::unique_ptr<Handle>>& handles, Id id, const Make& make) {
  std::unique_ptr<Handle>& handle = handles[std::move(id)];
  if (handle) return *handle;
  try {
    handle = std::make_unique<Handle>(make());
  } catch (const std::exception& refused) {
    MUSTER_ASSERT(false, refused.what());
  }
  return *handle;
}

}  // namespace

struct Metrics::Impl {
  std::mutex mutex;  // guards the maps; the handles are safe by themselves
  prometheus::Registry registry;
  std::map<Id, std::unique_ptr<CounterHandle>> counters;
  std::map<Id, std::unique_ptr<GaugeHandle>> gauges;
  std::map<Id, std::unique_ptr<HistogramHandle>> histograms;
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

Metrics::Counter& Metrics::counter(const std::string& name, const std::string& help,
                                   const Labels& labels) {
  const std::lock_guard lock(impl_->mutex);
  return find_or_make(impl_->counters, {name, labels}, [&] {
    auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(impl_->registry);
    return CounterHandle(family, family.Add(labels));
  });
}

Metrics::Gauge& Metrics::gauge(const std::string& name, const std::string& help,
                               const Labels& labels) {
  const std::lock_guard lock(impl_->mutex);
  return find_or_make(impl_->gauges, {name, labels}, [&]() -> prometheus::Gauge& {
    auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry);
    return family.Add(labels);
  });
}

Metrics::Histogram& Metrics::histogram(const std::string& name, const std::string& help,
                                       const std::vector<double>& buckets, const Labels& labels) {
  const std::lock_guard lock(impl_->mutex);
  return find_or_make(impl_->histograms, {name, labels}, [&]() -> prometheus::Histogram& {
    auto& family = prometheus::BuildHistogram().Name(name).Help(help).Register(impl_->registry);
    return family.Add(labels, buckets);
  });
}

void Metrics::drop_counter(const std::string& name, const Labels& labels) {
  const std::lock_guard lock(impl_->mutex);
  const auto dropped = impl_->counters.extract({name, labels});
  if (!dropped.empty()) dropped.mapped()->family.Remove(&dropped.mapped()->counter);
}

std::string Metrics::text() const {
  std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  // The library collects from hash tables; scrapes are easier to compare in order.
  std::ranges::sort(families, {}, &prometheus::MetricFamily::name);
  for (prometheus::MetricFamily& family : families)
    std::ranges::sort(family.metric, {}, &prometheus::ClientMetric::label);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace muster
