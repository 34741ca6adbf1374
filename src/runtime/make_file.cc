#include "runtime/make_file.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>

namespace muster::runtime {

UniqueFd make_file(const std::string& path, int flags, mode_t mode) {
  const int all = flags | O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
  UniqueFd file(open(path.c_str(), all, mode));
  if (file.valid() || errno != ENOENT) return file;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) {
    errno = error.value();
    return {};
  }
  return UniqueFd(open(path.c_str(), all, mode));
}

}  // namespace muster::runtime
