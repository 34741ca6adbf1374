#include "agent/inputs/images.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "json/parse.h"

namespace muster::agent {
namespace {

using json::Value;

constexpr std::uintmax_t kMaxConfig = 1 << 20;

std::vector<std::string> texts(Value list) {
  std::vector<std::string> out;
  for (const Value each : list.items()) out.emplace_back(each.as_string());
  return out;
}

std::unexpected<Error> unusable(std::string_view name, std::string_view why) {
  return fail(Code::kInvalid, fmt::format("Failed to inspect image \"{}\": {}", name, why));
}

std::string folder_of(const Images& images, std::string_view name) {
  const auto named = images.folders.find(name);
  return named == images.folders.end() ? images.other : named->second;
}

}  // namespace

Result<Image> image_from_config(std::string_view config, const std::string& folder) {
  json::Arena arena;
  MUSTER_TRY(const Value read, json::parse(arena, config));
  const std::string_view root = read.get({"root", "path"}).as_string();
  if (root.empty()) return fail(Code::kInvalid, "config.json names no root.path");
  const Value process = read.get("process");
  Image image{.rootfs = (std::filesystem::path(folder) / root).string(),
              .argv = texts(process.get("args")),
              .environment = texts(process.get("env")),
              .user = {}};
  const std::string_view directory = process.get("cwd").as_string();
  if (directory.starts_with('/')) image.working_directory = directory;
  if (const Value user = process.get("user"); user.is_object()) {
    image.user = runtime::User{.uid = static_cast<std::uint32_t>(user.get("uid").as_uint()),
                               .gid = static_cast<std::uint32_t>(user.get("gid").as_uint()),
                               .groups = {}};
  }
  return image;
}

Result<Image> find_image(const Images& images, std::string_view name) {
  const std::string folder = folder_of(images, name);
  if (folder.empty()) {
    return fail(Code::kNotFound,
                fmt::format("Container image \"{0}\" is not present with pull policy of Never; "
                            "this node pulls none: give its folder with --rootfs {0}=DIR",
                            name));
  }
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return unusable(name, error ? fmt::format("{}: {}", folder, error.message())
                                : fmt::format("{} is no folder", folder));
  }
  const std::string config = folder + "/config.json";
  const std::uintmax_t size = std::filesystem::file_size(config, error);
  if (error) return Image{.rootfs = folder, .argv = {}, .environment = {}, .user = {}};
  if (size > kMaxConfig) return unusable(name, config + " is too large");
  std::ifstream file(config);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) return unusable(name, config + " cannot be read");
  auto image = image_from_config(text, folder);
  if (!image) return unusable(name, fmt::format("{}: {}", config, image.error().message));
  return image;
}

}  // namespace muster::agent
