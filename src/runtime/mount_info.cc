#include "runtime/mount_info.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <ranges>
#include <sstream>

#include "base/number.h"

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
std::optional<MountInfo> parse_line(std::string_view line) {
  constexpr std::string_view kEndOfOptions = " - ";
  std::array<std::string_view, 5> fields;
  std::string_view rest = line;
  for (std::string_view& field : fields) {
    const std::size_t blank = rest.find(' ');
    if (blank == rest.npos) return std::nullopt;
    field = rest.substr(0, blank);
    rest.remove_prefix(blank + 1);
  }
  const auto id = parse_number<std::uint64_t>(fields[0]);
  const std::size_t end = line.find(kEndOfOptions);
  if (!id || end == line.npos) return std::nullopt;
  const std::string_view type = line.substr(end + kEndOfOptions.size());
  return MountInfo{.id = *id,
                   .device = std::string(fields[2]),
                   .root = unescaped(fields[3]),
                   .place = unescaped(fields[4]),
                   .type = std::string(type.substr(0, type.find(' ')))};
}

std::string join(const std::string& folder, const std::string& below) {
  if (below.empty()) return folder;
  return folder.ends_with('/') ? folder + below : folder + "/" + below;
}

std::optional<std::string> below(const std::string& folder, const std::string& path) {
  if (path == folder) return "";
  const std::string start = folder.ends_with('/') ? folder : folder + "/";
  if (!path.starts_with(start)) return std::nullopt;
  return path.substr(start.size());
}

}  // namespace

Result<std::string> own_mount_info() {
  std::ostringstream text;
  text << std::ifstream("/proc/self/mountinfo").rdbuf();
  if (!text) return fail(Code::kInternal, "cannot read /proc/self/mountinfo");
  return std::move(text).str();
}

std::vector<MountInfo> parse_mount_info(std::string_view text) {
  std::vector<MountInfo> mounts;
  for (const auto line : std::views::split(text, '\n')) {
    if (auto mount = parse_line(std::string_view(line))) mounts.push_back(*std::move(mount));
  }
  return mounts;
}

std::vector<Sight> sights_of(const Sight& seen, const std::vector<MountInfo>& mounts) {
  const auto own = std::ranges::find(mounts, seen.mount, &MountInfo::id);
  const auto inside = own == mounts.end() ? std::nullopt : below(own->place, seen.path);
  if (!inside) return {seen};
  const std::string in_file_system = join(own->root, *inside);
  std::vector<Sight> sights;
  for (const MountInfo& mount : mounts) {
    if (mount.device != own->device) continue;
    if (const auto rest = below(mount.root, in_file_system))
      sights.push_back({.mount = mount.id, .path = join(mount.place, *rest)});
  }
  return sights;
}

}  // namespace muster::runtime
