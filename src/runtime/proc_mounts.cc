#include "runtime/proc_mounts.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <filesystem>
#include <ranges>

namespace muster::runtime {
namespace {

// Blanks and such are written as \040.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// 36 35 0:21 / /proc rw,nosuid shared:5 - proc proc rw
constexpr int kPlaceField = 4;

std::string place_in(std::string_view line) {
  for (int i = 0; i < kPlaceField; ++i) {
    const std::size_t blank = line.find(' ');
    if (blank == line.npos) return "";
    line.remove_prefix(blank + 1);
  }
  return unescaped(line.substr(0, line.find(' ')));
}

}  // namespace

bool shows_processes(int file) {
  struct statfs info{};
  return fstatfs(file, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

std::vector<std::string> proc_mounts_below(const std::string& folder, std::string_view mount_info) {
  std::string start = std::filesystem::path(folder).lexically_normal();
  if (!start.ends_with('/')) start += '/';
  std::vector<std::string> found;
  for (const auto each : std::views::split(mount_info, '\n')) {
    const std::string_view line(each);
    if (line.find(" - proc ") == line.npos) continue;
    const std::string place = place_in(line);
    if (place.starts_with(start)) found.push_back(place.substr(start.size()));
  }
  return found;
}

}  // namespace muster::runtime
