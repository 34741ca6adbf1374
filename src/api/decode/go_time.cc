#include "api/decode/go_time.h"

#include <fmt/format.h>

#include "api/values/field_error.h"
#include "base/ascii.h"

namespace muster::api {
namespace {

constexpr std::string_view kSecondsLayout = "2006-01-02T15:04:05Z07:00";
constexpr std::string_view kMicrosLayout = "2006-01-02T15:04:05.000000Z07:00";

class TimeParser {
 public:
  TimeParser(std::string_view text, TimeLayout layout)
      : text_(text), rest_(text), layout_(layout) {}

  std::expected<Time, std::string> parse() {
    const int year = digits(4, "2006");
    literal("-");
    const int month = two_digits("01", "month", 1, 12);
    literal("-");
    const int day = two_digits("02", "", 0, 99);
    literal("T");
    const int hour = parse_hour();
    literal(":");
    const int minute = two_digits("04", "minute", 0, 59);
    literal(":");
    const int second = two_digits("05", "second", 0, 59);
    const std::chrono::microseconds fraction = parse_fraction();
    const std::chrono::minutes zone = parse_zone();
    if (!failed() && !rest_.empty()) {
      error_ = fmt::format("parsing time {}: extra text: {}", quote(text_), quote(rest_));
    }
    using namespace std::chrono;
    const year_month_day date{std::chrono::year(year),
                              std::chrono::month(static_cast<unsigned>(month)),
                              std::chrono::day(static_cast<unsigned>(day))};
    if (!failed() && !date.ok()) out_of_range("day");
    if (failed()) return std::unexpected(error_);
    return sys_days(date) + hours(hour) + minutes(minute) + seconds(second) + fraction - zone;
  }

 private:
  bool failed() const { return !error_.empty(); }

  void cannot_parse(std::string_view element) {
    if (failed()) return;
    error_ = fmt::format("parsing time {} as {}: cannot parse {} as {}", quote(text_),
                         quote(layout_ == TimeLayout::kSeconds ? kSecondsLayout : kMicrosLayout),
                         quote(rest_), quote(element));
  }

  void out_of_range(std::string_view what) {
    if (!failed()) error_ = fmt::format("parsing time {}: {} out of range", quote(text_), what);
  }

  void literal(std::string_view element) {
    if (failed()) return;
    if (!rest_.starts_with(element)) return cannot_parse(element);
    rest_.remove_prefix(element.size());
  }

  int digits(std::size_t count, std::string_view element) {
    if (failed()) return 0;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i >= rest_.size() || !is_digit(rest_[i])) {
        cannot_parse(element);
        return 0;
      }
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }

  int two_digits(std::string_view element, std::string_view name, int least, int most) {
    const int value = digits(2, element);
    if (!failed() && (value < least || value > most)) out_of_range(name);
    return value;
  }

  // One digit will do for an hour, and for nothing else.
  int parse_hour() {
    const bool one_digit = rest_.size() >= 2 && is_digit(rest_[0]) && !is_digit(rest_[1]);
    if (!one_digit || failed()) return two_digits("15", "hour", 0, 23);
    return digits(1, "15");
  }

  // The seconds layout accepts any fraction, the other one just six digits.
  std::chrono::microseconds parse_fraction() {
    if (failed()) return {};
    const bool wanted = layout_ == TimeLayout::kMicros;
    std::size_t length = 0;
    if (!rest_.empty() && (rest_[0] == '.' || (!wanted && rest_[0] == ','))) {
      length = 1;
      while (length < rest_.size() && is_digit(rest_[length]) && !(wanted && length == 7)) ++length;
    }
    if (wanted && length != 7) {
      cannot_parse(".000000");
      return {};
    }
    if (length < 2) return {};
    int micros = 0;
    for (std::size_t i = 1; i <= 6; ++i) micros = micros * 10 + (i < length ? rest_[i] - '0' : 0);
    rest_.remove_prefix(length);
    return std::chrono::microseconds(micros);
  }

  std::chrono::minutes parse_zone() {
    if (failed()) return {};
    if (rest_.starts_with('Z')) {
      rest_.remove_prefix(1);
      return {};
    }
    const bool sound = rest_.size() >= 6 && (rest_[0] == '+' || rest_[0] == '-') &&
                       is_digit(rest_[1]) && is_digit(rest_[2]) && rest_[3] == ':' &&
                       is_digit(rest_[4]) && is_digit(rest_[5]);
    if (!sound) {
      cannot_parse("Z07:00");
      return {};
    }
    const int hours = (rest_[1] - '0') * 10 + (rest_[2] - '0');
    const int minutes = (rest_[4] - '0') * 10 + (rest_[5] - '0');
    if (hours > 24) out_of_range("time zone offset hour");
    if (minutes > 60) out_of_range("time zone offset minute");
    const int sign = rest_[0] == '-' ? -1 : 1;
    rest_.remove_prefix(6);
    return std::chrono::minutes(sign * (hours * 60 + minutes));
  }

  std::string_view text_;
  std::string_view rest_;
  TimeLayout layout_;
  std::string error_;
};

}  // namespace

std::expected<Time, std::string> parse_go_time(std::string_view text, TimeLayout layout) {
  return TimeParser(text, layout).parse();
}

}  // namespace muster::api
