// The format is SQLite's (https://www.sqlite.org/fileformat2.html, section 4): a header of 32
// bytes, then frames of 24 bytes and a page. Each frame's checksum continues that of the frame
// before.
#include "store/wal_inspection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace muster::store {
namespace {

constexpr std::size_t kHeaderSize = 32;
constexpr std::size_t kFrameHeaderSize = 24;
constexpr std::uint32_t kMagic =
    0x377f0682;  // the lowest bit says in which order the checksums read bytes
constexpr std::size_t kMaxPageSize = 65'536;

std::uint32_t big_endian(const unsigned char* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}
std::uint32_t little_endian(const unsigned char* p) {
  return std::uint32_t{p[3]} << 24 | std::uint32_t{p[2]} << 16 | std::uint32_t{p[1]} << 8 | p[0];
}

struct Checksum {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  bool operator==(const Checksum&) const = default;

  static Checksum stored(const unsigned char* p) { return {big_endian(p), big_endian(p + 4)}; }
  Checksum over(const unsigned char* bytes, std::size_t size, bool big) const {
    Checksum sum = *this;
    for (std::size_t i = 0; i + 8 <= size; i += 8) {
      sum.a += (big ? big_endian(bytes + i) : little_endian(bytes + i)) + sum.b;
      sum.b += (big ? big_endian(bytes + i + 4) : little_endian(bytes + i + 4)) + sum.a;
    }
    return sum;
  }
};

// A file opened through SQLite's virtual file system, so that tests can put anything below it.
class VfsFile {
 public:
  static Result<VfsFile> open(const std::string& path, const std::string& vfs_name) {
    sqlite3_vfs* vfs = sqlite3_vfs_find(vfs_name.empty() ? nullptr : vfs_name.c_str());
    MUSTER_ASSERT(vfs != nullptr, "the virtual file system is registered");
    VfsFile file;
    int there = 0;
    if (vfs->xAccess(vfs, path.c_str(), SQLITE_ACCESS_EXISTS, &there) != SQLITE_OK) {
      return fail(Code::kUnavailable, fmt::format("{}: cannot be looked for", path));
    }
    if (there == 0) return file;
    file.name_ = path + std::string(2, '\0');  // SQLite looks for parameters behind the name
    file.storage_.resize(static_cast<std::size_t>(vfs->szOsFile));
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_WAL;
    if (vfs->xOpen(vfs, file.name_.c_str(), file.handle(), flags, nullptr) != SQLITE_OK) {
      return fail(Code::kUnavailable, fmt::format("{}: cannot be opened", path));
    }
    file.open_ = true;
    sqlite3_int64 size = 0;
    if (file.handle()->pMethods->xFileSize(file.handle(), &size) != SQLITE_OK) {
      return fail(Code::kUnavailable, fmt::format("{}: cannot be read", path));
    }
    file.size_ = static_cast<std::uint64_t>(size);
    return file;
  }
  VfsFile(VfsFile&& other) noexcept
      : name_(std::move(other.name_)),
        storage_(std::move(other.storage_)),
        open_(std::exchange(other.open_, false)),
        size_(other.size_) {}
  ~VfsFile() {
    if (open_) handle()->pMethods->xClose(handle());
  }

  std::uint64_t size() const { return size_; }
  Status read(std::uint64_t offset, std::vector<unsigned char>& into) {
    const int code = handle()->pMethods->xRead(handle(), into.data(), static_cast<int>(into.size()),
                                               static_cast<sqlite3_int64>(offset));
    if (code == SQLITE_OK) return {};
    return fail(Code::kUnavailable,
                fmt::format("{}: cannot be read at byte {}", name_.c_str(), offset));
  }

 private:
  VfsFile() = default;
  sqlite3_file* handle() { return reinterpret_cast<sqlite3_file*>(storage_.data()); }

  std::string name_;
  std::vector<char> storage_;
  bool open_ = false;
  std::uint64_t size_ = 0;
};

struct LogHeader {
  bool big_endian_sums = false;
  std::size_t page_size = 0;
  std::uint32_t salt[2] = {};
  Checksum sum;
};

// Nothing if the bytes are no header.
std::optional<LogHeader> parse_header(const std::vector<unsigned char>& bytes) {
  LogHeader header;
  const std::uint32_t magic = big_endian(bytes.data());
  header.big_endian_sums = (magic & 1) != 0;
  header.page_size = big_endian(bytes.data() + 8);
  header.salt[0] = big_endian(bytes.data() + 16);
  header.salt[1] = big_endian(bytes.data() + 20);
  header.sum = Checksum::stored(bytes.data() + 24);
  const bool sound = (magic & ~1u) == kMagic && header.page_size >= 512 &&
                     header.page_size <= kMaxPageSize &&
                     Checksum().over(bytes.data(), 24, header.big_endian_sums) == header.sum;
  return sound ? std::optional(header) : std::nullopt;
}

// The first frame that does not continue the one before it, and the transactions that end with it
// or in the frames that continue it without a break. Where those end, older ones may still lie: of
// an earlier log, or of transactions that an earlier crash has torn; they say nothing.
struct Findings {
  std::uint64_t bad_frame = 0;  // counted from 1; 0: none
  std::uint64_t transactions = 0;
};

Result<Findings> read_frames(VfsFile& file, const LogHeader& header) {
  Findings findings;
  std::vector<unsigned char> frame(kFrameHeaderSize + header.page_size);
  const std::uint64_t count = (file.size() - kHeaderSize) / frame.size();
  // What the next frame may continue: the checksum that stands before it, or, if the frame there is
  // bad, the one that should stand there.
  Checksum stored = header.sum;
  Checksum computed = header.sum;
  for (std::uint64_t number = 1; number <= count; ++number) {
    MUSTER_CHECK(file.read(kHeaderSize + (number - 1) * frame.size(), frame));
    const auto sum_after = [&](const Checksum& before) {
      return before.over(frame.data(), 8, header.big_endian_sums)
          .over(frame.data() + kFrameHeaderSize, header.page_size, header.big_endian_sums);
    };
    const Checksum from_stored = sum_after(stored);
    const Checksum from_computed = stored == computed ? from_stored : sum_after(computed);
    stored = Checksum::stored(frame.data() + 16);
    computed = from_stored;
    const bool sum_fits = stored == from_stored || stored == from_computed;
    const bool of_this_log = big_endian(frame.data() + 8) == header.salt[0] &&
                             big_endian(frame.data() + 12) == header.salt[1];
    if (!(sum_fits && of_this_log)) {
      if (findings.bad_frame != 0) break;
      findings.bad_frame = number;
    }
    const bool ends_transaction = big_endian(frame.data() + 4) != 0;
    if (findings.bad_frame != 0 && ends_transaction && (sum_fits || of_this_log))
      ++findings.transactions;
  }
  return findings;
}

}  // namespace

Result<std::string> find_damage_in_log(const std::string& wal_file, const std::string& vfs) {
  MUSTER_TRY(VfsFile file, VfsFile::open(wal_file, vfs));
  if (file.size() < kHeaderSize) return "";
  std::vector<unsigned char> bytes(kHeaderSize);
  MUSTER_CHECK(file.read(0, bytes));
  // A file that has its length but not yet its first bytes: the power failed while it was being
  // made.
  if (std::ranges::all_of(bytes, [](unsigned char byte) { return byte == 0; })) return "";
  const auto header = parse_header(bytes);
  // Not torn: it is written at once, and disks write a sector as a whole.
  if (!header) {
    return fmt::format("{}: its header is damaged, so that no change in it can be read", wal_file);
  }
  MUSTER_TRY(const Findings found, read_frames(file, *header));
  if (found.transactions < 2) return "";
  return fmt::format(
      "{}: frame {} is damaged, so that this transaction and {} after it cannot be read", wal_file,
      found.bad_frame, found.transactions - 1);
}

}  // namespace muster::store
