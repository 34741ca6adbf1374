#include "base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace metrics_test {

using testing::HasSubstr;

TEST(Metrics, CountersAddUp) {
  Metrics metrics;
  metrics.counter("requests_total", "Requests.", {{"verb", "GET"}}).add();
  metrics.counter("requests_total", "Requests.", {{"verb", "GET"}}).add(2);
  EXPECT_EQ(metrics.text(),
            "# HELP requests_total Requests.\n# TYPE requests_total counter\n"
            "requests_total{verb=\"GET\"} 3\n");
}

TEST(Metrics, SameNameAndLabelsGiveTheSameHandle) {
  Metrics metrics;
  EXPECT_EQ(&metrics.gauge("depth", "d"), &metrics.gauge("depth", "d"));
  EXPECT_NE(&metrics.gauge("depth", "d"), &metrics.gauge("depth", "d", {{"queue", "a"}}));
}

TEST(Metrics, GaugesAreSetAndMoved) {
  Metrics metrics;
  Metrics::Gauge& depth = metrics.gauge("depth", "d");
  depth.set(5);
  depth.add(-2);
  EXPECT_THAT(metrics.text(), HasSubstr("\ndepth 3\n"));
}

TEST(Metrics, HistogramsCountByBucket) {
  Metrics metrics;
  Metrics::Histogram& seconds = metrics.histogram("seconds", "s", {0.1, 1});
  seconds.observe(0.05);
  seconds.observe(0.5);
  seconds.observe(5);
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("seconds_bucket{le=\"0.1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("seconds_bucket{le=\"1\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("seconds_count 3\n"));
}

TEST(Metrics, TextIsInOrder) {
  Metrics metrics;
  for (const char* label : {"c", "a", "b"}) metrics.gauge("z", "z", {{"l", label}}).set(1);
  metrics.gauge("y", "y").set(1);
  const std::string text = metrics.text();
  const auto place = [&](std::string_view part) { return text.find(part); };
  EXPECT_LT(place("y 1"), place("z{l=\"a\"}"));
  EXPECT_LT(place("z{l=\"a\"}"), place("z{l=\"b\"}"));
  EXPECT_LT(place("z{l=\"b\"}"), place("z{l=\"c\"}"));
}

TEST(MetricsDeathTest, NameOfAnotherTypeIsAFault) {
  Metrics metrics;
  metrics.counter("a", "a");
  EXPECT_DEATH(metrics.gauge("a", "a"), "assertion failed");
}

TEST(Metrics, ADroppedCounterIsGoneAndStartsAnew) {
  Metrics metrics;
  metrics.counter("m_total", "m", {{"name", "a"}}).add(3);
  metrics.counter("m_total", "m", {{"name", "b"}}).add(4);
  metrics.drop_counter("m_total", {{"name", "a"}});
  metrics.drop_counter("m_total", {{"name", "never there"}});
  EXPECT_EQ(metrics.text().find("name=\"a\""), std::string::npos);
  EXPECT_NE(metrics.text().find("m_total{name=\"b\"} 4"), std::string::npos);
  metrics.counter("m_total", "m", {{"name", "a"}}).add();
  EXPECT_NE(metrics.text().find("m_total{name=\"a\"} 1"), std::string::npos);
}

}  // namespace metrics_test
}  // namespace muster
