#include "base/time.h"

#include <fmt/compile.h>
#include <fmt/format.h>

namespace muster {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

std::string format_calendar(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format(FMT_COMPILE("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}"),
                     static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

// Reads a text from the left; after the first mismatch everything fails.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : rest_(text) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

  bool next_is(char c) const { return !rest_.empty() && rest_[0] == c; }

  void expect(char c) {
    ok_ = ok_ && next_is(c);
    if (ok_) rest_.remove_prefix(1);
  }

  bool next_is_digit() const { return !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; }

  int digit() {
    ok_ = ok_ && next_is_digit();
    if (!ok_) return 0;
    const int value = rest_[0] - '0';
    rest_.remove_prefix(1);
    return value;
  }

  int number(int width, int least, int most) {
    int value = 0;
    for (int i = 0; i < width; ++i) value = value * 10 + digit();
    ok_ = ok_ && value >= least && value <= most;
    return value;
  }

  // The digits after the point; those beyond microseconds are read and dropped.
  Duration fraction() {
    if (!next_is('.')) return Duration::zero();
    expect('.');
    int value = digit();
    for (int places = 1; places < 6 || next_is_digit(); ++places) {
      const int next = next_is_digit() ? digit() : 0;
      if (places < 6) value = value * 10 + next;
    }
    return Duration(value);
  }

  // How far the local clock is ahead of UTC.
  minutes zone() {
    if (next_is('Z')) {
      expect('Z');
      return minutes::zero();
    }
    const int sign = next_is('-') ? -1 : 1;
    expect(sign < 0 ? '-' : '+');
    const int h = number(2, 0, 23);
    expect(':');
    return sign * (hours(h) + minutes(number(2, 0, 59)));
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// "9m30s", or "9m" when the smaller unit is zero.
std::string in_two_units(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
  if (small == 0) return fmt::format("{}{}", large, large_unit);
  return fmt::format("{}{}{}{}", large, large_unit, small, small_unit);
}

}  // namespace

std::string format_time(Time time) {
  return format_calendar(std::chrono::floor<seconds>(time)) + 'Z';
}

std::string format_micro_time(Time time) {
  const auto whole = std::chrono::floor<seconds>(time);
  return fmt::format("{}.{:06}Z", format_calendar(whole), (time - whole).count());
}

std::optional<Time> parse_time(std::string_view text) {
  TimeReader reader(text);
  const int year = reader.number(4, 0, 9999);
  reader.expect('-');
  const int month = reader.number(2, 1, 12);
  reader.expect('-');
  const int day = reader.number(2, 1, 31);
  reader.expect('T');
  const int hour = reader.number(2, 0, 23);
  reader.expect(':');
  const int minute = reader.number(2, 0, 59);
  reader.expect(':');
  const int second = reader.number(2, 0, 59);
  const Duration fraction = reader.fraction();
  const minutes zone = reader.zone();
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!reader.ok() || !reader.at_end() || !date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + hours(hour) + minutes(minute) + seconds(second) + fraction -
         zone;
}

std::string human_duration(Duration duration) {
  const std::int64_t s = std::chrono::duration_cast<seconds>(duration).count();
  const std::int64_t m = s / 60;
  const std::int64_t h = m / 60;
  const std::int64_t d = h / 24;
  const std::int64_t y = d / 365;
  if (s < -1) return "<invalid>";  // clocks that disagree by a second are forgiven
  if (s < 0) return "0s";
  if (s < 120) return fmt::format("{}s", s);
  if (m < 10) return in_two_units(m, 'm', s % 60, 's');
  if (h < 3) return fmt::format("{}m", m);
  if (h < 8) return in_two_units(h, 'h', m % 60, 'm');
  if (h < 48) return fmt::format("{}h", h);
  if (d < 8) return in_two_units(d, 'd', h % 24, 'h');
  if (y < 2) return fmt::format("{}d", d);
  if (y < 8) return in_two_units(y, 'y', d % 365, 'd');
  return fmt::format("{}y", y);
}

}  // namespace muster
