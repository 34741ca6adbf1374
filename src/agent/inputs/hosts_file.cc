#include "agent/inputs/hosts_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/errno_error.h"

namespace muster::agent {
namespace {

// As a kubelet writes it, so that programs that look for these lines find them.
constexpr std::string_view kHead =
    "# Kubernetes-managed hosts file.\n"
    "127.0.0.1\tlocalhost\n"
    "::1\tlocalhost ip6-localhost ip6-loopback\n"
    "fe00::0\tip6-localnet\n"
    "fe00::0\tip6-mcastprefix\n"
    "fe00::1\tip6-allnodes\n"
    "fe00::2\tip6-allrouters\n";
constexpr std::string_view kMachineMark = "# Entries of this machine.\n";
constexpr std::string_view kPodsMark = "# Pods of this namespace.\n";
constexpr char kHidden = '#';
constexpr char kShown = '1';  // every address of ours begins with it: 127.X.Y.Z

std::unexpected<Error> os_error(std::string_view what) {
  return errno_error(fmt::format("hosts file: {}", what));
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// The machine's lines but those of localhost and its friends, which are there already.
std::string machine_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const bool has_names = !line.empty() && line.find_first_not_of(" \t\r") != line.npos;
    if (!has_names || line.starts_with('#') || line.find("localhost") != line.npos ||
        line.find("ip6-") != line.npos)
      continue;
    out += line;
    out += '\n';
  }
  return out;
}

Result<std::string> read_all(int fd, std::size_t size) {
  std::string text(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const ssize_t got = ::pread(fd, text.data() + have, size - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_error("read");
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

}  // namespace

Result<HostsFile> HostsFile::open(const std::string& path, std::string_view machine_hosts) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd.valid()) return os_error("open " + path);
  struct stat info{};
  // Readable for the users that pods run as, whatever the umask is.
  if (::fstat(fd.get(), &info) != 0 || ::fchmod(fd.get(), 0644) != 0) return os_error("stat");
  HostsFile file(std::move(fd));
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size > 0 && size <= kMaxFile) {
    MUSTER_TRY(const std::string text, read_all(file.fd_.get(), size));
    if (file.load(text)) return file;
  }
  MUSTER_CHECK(file.make(machine_hosts));
  return file;
}

bool HostsFile::load(std::string_view text) {
  const std::size_t mark = text.find(kPodsMark);
  if (!text.starts_with(kHead) || mark == text.npos) return false;
  size_ = mark + kPodsMark.size();
  text.remove_prefix(size_);
  while (text.find('\n') != text.npos) {  // what a crash cut short has no end and is overwritten
    std::string line(take_line(text));
    Slot slot{.offset = size_, .size = line.size() + 1};
    if (slot.size % kSlot != 0) return false;
    const bool hidden = line[0] == kHidden;
    line[0] = kShown;
    line.erase(line.find_last_not_of(' ') + 1);
    if (hidden) note_hidden(line, slot);
    if (!slots_.emplace(line, slot).second) return false;
    size_ += slot.size;
  }
  return true;
}

Status HostsFile::make(std::string_view machine_hosts) {
  const std::string others = machine_lines(machine_hosts);
  std::string text(kHead);
  if (!others.empty()) text += fmt::format("{}{}", kMachineMark, others);
  text += kPodsMark;
  slots_.clear();
  hidden_by_.clear();
  size_ = text.size();
  if (::ftruncate(fd_.get(), 0) != 0) return os_error("truncate");
  return write_at(0, text);
}

Status HostsFile::write_at(std::size_t offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t done =
        ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return os_error("write");
    offset += static_cast<std::size_t>(done);
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

void HostsFile::note_hidden(const std::string& line, Slot& slot) {
  slot.hidden = ++hidings_;
  hidden_by_[slot.size].emplace(slot.hidden, line);
}

// Into the place of a line that was hidden long ago, or at the end.
Status HostsFile::write_hidden(const std::string& line) {
  Slot slot{.offset = size_, .size = (line.size() + kSlot) / kSlot * kSlot};
  auto& hidden = hidden_by_[slot.size];
  const bool reuse = hidden.size() > kKeptHidden;
  if (reuse) {
    const auto oldest = slots_.find(hidden.begin()->second);
    slot.offset = oldest->second.offset;
    slots_.erase(oldest);
    hidden.erase(hidden.begin());
  } else if (size_ + slot.size > kMaxFile) {
    return fail(Code::kUnavailable, "hosts file: too many names in one namespace");
  }
  std::string text = line;
  text[0] = kHidden;
  text.resize(slot.size - 1, ' ');
  text += '\n';
  MUSTER_CHECK(write_at(slot.offset, text));
  if (!reuse) size_ += slot.size;
  note_hidden(line, slot);
  slots_.emplace(line, slot);
  return {};
}

Status HostsFile::show(const std::string& line) {
  MUSTER_ASSERT(line.starts_with(kShown) && line.find('\n') == line.npos, "a line of a pod");
  if (!slots_.contains(line)) MUSTER_CHECK(write_hidden(line));
  Slot& slot = slots_.find(line)->second;
  if (slot.hidden == 0) return {};
  MUSTER_CHECK(write_at(slot.offset, {&kShown, 1}));
  hidden_by_[slot.size].erase(slot.hidden);
  slot.hidden = 0;
  return {};
}

Status HostsFile::hide(const std::string& line) {
  const auto at = slots_.find(line);
  if (at == slots_.end() || at->second.hidden != 0) return {};
  MUSTER_CHECK(write_at(at->second.offset, {&kHidden, 1}));
  note_hidden(line, at->second);
  return {};
}

std::vector<std::string> HostsFile::lines() const {
  std::vector<std::string> out;
  for (const auto& [line, slot] : slots_) out.push_back(line);
  return out;
}

}  // namespace muster::agent
