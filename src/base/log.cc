#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>

namespace muster::log {
namespace {

std::atomic<Level> least_level = Level::kInfo;
std::atomic<Format> line_format = Format::kText;

constexpr std::array kTextNames = {"DEBUG", "INFO ", "WARN ", "ERROR"};
constexpr std::array kJsonNames = {"debug", "info", "warn", "error"};

// spdlog supplies the time, the lock and the write; the rest of the line comes as its %v.
constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ %v";
constexpr const char* kJsonPattern = R"({"ts":"%Y-%m-%dT%H:%M:%S.%eZ",%v})";

spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("muster", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_level(spdlog::level::trace);  // least_level decides
    made.set_pattern(kTextPattern, spdlog::pattern_time_type::utc);
    return made;
  }();
  return instance;
}

// One event is one line: no control character gets through, in either format.
void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (quotes && (c == '"' || c == '\\')) {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  append_escaped(out, text, true);
  out += '"';
}

bool needs_quotes(std::string_view value) {
  const auto stands_alone = [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '"' && c != '=' && c != '\\' && c != 0x7F;
  };
  return value.empty() || !std::ranges::all_of(value, stands_alone);
}

std::string text_line(Level level, std::string_view message, Fields fields) {
  std::string line = fmt::format("{} ", kTextNames[static_cast<std::size_t>(level)]);
  append_escaped(line, message, false);
  for (const Field& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    if (needs_quotes(field.value)) {
      append_quoted(line, field.value);
    } else {
      line += field.value;
    }
  }
  return line;
}

std::string json_line(Level level, std::string_view message, Fields fields) {
  std::string line =
      fmt::format(R"("level":"{}","msg":)", kJsonNames[static_cast<std::size_t>(level)]);
  append_quoted(line, message);
  for (const Field& field : fields) {
    line += ',';
    append_quoted(line, field.key);
    line += ':';
    append_quoted(line, field.value);
  }
  return line;
}

}  // namespace

void configure(Level least, Format format) {
  least_level = least;
  line_format = format;
  logger().set_pattern(format == Format::kJson ? kJsonPattern : kTextPattern,
                       spdlog::pattern_time_type::utc);
}

bool enabled(Level level) { return level >= least_level.load(std::memory_order_relaxed); }

void write(Level level, std::string_view message, Fields fields) {
  if (!enabled(level)) return;
  logger().log(spdlog::level::info, line_format == Format::kJson
                                        ? json_line(level, message, fields)
                                        : text_line(level, message, fields));
}

}  // namespace muster::log
