#include "base/replace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/errno_error.h"
#include "base/unique_fd.h"

namespace muster {

Status replace_file(const std::string& file, std::string_view text) {
  const std::string draft = file + ".new";
  {
    const UniqueFd fd(
        ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd.valid() && ::write(fd.get(), text.data(), text.size()) == std::ssize(text) &&
        ::rename(draft.c_str(), file.c_str()) == 0)
      return {};
  }
  return errno_error(fmt::format("writing {}", file));
}

}  // namespace muster
