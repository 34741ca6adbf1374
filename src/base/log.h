// Logging: one line per event, a message and key=value pairs; JSON lines on request.
//
//   log::info("listening", {{"address", address}, {"objects", count}});
//
// Callable from any thread. An error is logged or returned, never both.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace muster::log {

enum class Level { kDebug, kInfo, kWarn, kError };
enum class Format { kText, kJson };

struct Field {
  template <class T>
  Field(std::string_view k, const T& v) : key(k), value(fmt::format("{}", v)) {}
  std::string_view key;
  std::string value;
};
using Fields = std::initializer_list<Field>;

void configure(Level least, Format format);  // standard error, info and text unless told otherwise
bool enabled(Level level);
void write(Level level, std::string_view message, Fields fields);

inline void debug(std::string_view message, Fields fields = {}) {
  if (enabled(Level::kDebug)) write(Level::kDebug, message, fields);
}
inline void info(std::string_view message, Fields fields = {}) {
  write(Level::kInfo, message, fields);
}
inline void warn(std::string_view message, Fields fields = {}) {
  write(Level::kWarn, message, fields);
}
inline void error(std::string_view message, Fields fields = {}) {
  write(Level::kError, message, fields);
}

}  // namespace muster::log
