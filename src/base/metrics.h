// Counters, gauges and histograms in one registry, printed in the Prometheus text format.
// Callable from any thread. Handles stay valid for the life of the process, but for those of
// counters that are dropped.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace muster {

class Metrics {
 public:
  using Labels = std::map<std::string, std::string>;
  class Counter {
   public:
    virtual ~Counter() = default;
    virtual void add(double by = 1) = 0;
  };
  class Gauge {
   public:
    virtual ~Gauge() = default;
    virtual void set(double value) = 0;
    virtual void add(double by) = 0;
  };
  class Histogram {
   public:
    virtual ~Histogram() = default;
    virtual void observe(double value) = 0;
  };

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;

  // The same name and labels give the same handle.
  Counter& counter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge& gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram& histogram(const std::string& name, const std::string& help,
                       const std::vector<double>& buckets, const Labels& labels = {});
  // It is no longer shown; its handle must not be used any more. For labels that name something
  // that is gone: they would pile up for ever.
  void drop_counter(const std::string& name, const Labels& labels);
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster
