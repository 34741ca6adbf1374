// For tests: a folder of logs that is written as the runtime writes it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "agent/logs/log_file.h"

namespace muster::agent::testing {

class LogFolder {
 public:
  LogFolder() {
    std::string pattern = ::testing::TempDir() + "logs-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    root = pattern;
  }
  ~LogFolder() { std::filesystem::remove_all(root); }

  static LogKey key(int run = 0) {
    return {.ns = "default", .pod = "p", .uid = "u1", .container = "main", .run = run};
  }
  std::filesystem::path path(int run = 0) const { return root / key(run).file(); }

  void write_raw(std::string_view text, int run = 0) const {
    std::filesystem::create_directories(path(run).parent_path());
    std::ofstream(path(run), std::ios::app) << text;
  }
  void write(std::string_view content, int run = 0, std::string_view stream = "stdout") const {
    write_raw(fmt::format("2026-11-15T09:00:00.000000000Z {} F {}\n", stream, content), run);
  }
  void rotate(int run = 0) const {
    std::filesystem::rename(path(run), path(run).string() + ".20261115-090000");
  }

  std::filesystem::path root;
};

}  // namespace muster::agent::testing
