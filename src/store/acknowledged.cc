#include "store/acknowledged.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "store/crc32c.h"

namespace muster::store {
namespace {

std::string path_of(const std::string& directory) { return directory + "/acknowledged"; }

// Always of one length, and within one sector of the disk: a write replaces it as a whole.
std::string text_of(Revision revision) {
  const std::string number = fmt::format("{:020}", revision);
  return fmt::format("{} {:08x}\n", number, crc32c(number));
}

}  // namespace

AcknowledgedNote::AcknowledgedNote(const std::string& directory)
    : file_(open(path_of(directory).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) {}

void AcknowledgedNote::write(Revision revision) {
  if (!file_.valid()) return;
  const std::string text = text_of(revision);
  [[maybe_unused]] const ssize_t wrote = pwrite(file_.get(), text.data(), text.size(), 0);
}

Revision AcknowledgedNote::read(const std::string& directory) {
  const UniqueFd file(open(path_of(directory).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return 0;
  std::array<char, 64> bytes{};
  const ssize_t size = pread(file.get(), bytes.data(), bytes.size(), 0);
  const std::string_view text(bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  Revision revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return text == text_of(revision) ? revision : 0;
}

std::string describe_loss(Revision newest, Revision acknowledged, std::uint64_t log_end) {
  if (newest >= acknowledged) return "";
  return fmt::format(
      "muster.db-wal: what can be read ends at byte {}, with revision {}, but changes up to "
      "revision {} were acknowledged: the end of this log is damaged or gone, or an older database "
      "was put in its place",
      log_end, newest, acknowledged);
}

}  // namespace muster::store
