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

// A frame as it lies in the file.
struct Frame {
  explicit Frame(std::size_t page_size) : bytes(kFrameHeaderSize + page_size) {}
  bool ends_transaction() const { return big_endian(bytes.data() + 4) != 0; }
  bool is_of(const LogHeader& log) const {
    return big_endian(bytes.data() + 8) == log.salt[0] &&
           big_endian(bytes.data() + 12) == log.salt[1];
  }
  Checksum stored_sum() const { return Checksum::stored(bytes.data() + 16); }
  Checksum sum_after(const Checksum& before, const LogHeader& log) const {
    return before.over(bytes.data(), 8, log.big_endian_sums)
        .over(bytes.data() + kFrameHeaderSize, log.page_size, log.big_endian_sums);
  }

  std::vector<unsigned char> bytes;
};

// Frames are counted from 1; 0: there is none.
struct Findings {
  std::uint64_t last_commit = 0;    // the last frame that SQLite reads
  std::uint64_t sound = 0;          // transactions up to there
  std::uint64_t bad_frame = 0;      // the first one that does not continue the frame before it
  std::uint64_t last_of_log = 0;    // the last one with this log's salt
  std::uint64_t behind_damage = 0;  // transactions that end with the bad frame or behind it
};

// Follows the frames one by one.
class Reader {
 public:
  explicit Reader(const LogHeader& log) : log_(log), stored_(log.sum), computed_(log.sum) {}

  void take(const Frame& frame, std::uint64_t number) {
    const bool of_log = frame.is_of(log_);
    const bool continues = continues_the_one_before(frame, of_log);
    if (of_log) found_.last_of_log = number;
    if (found_.bad_frame == 0 && !(continues && of_log)) found_.bad_frame = number;
    if (!frame.ends_transaction()) return;
    if (found_.bad_frame == 0) {
      found_.last_commit = number;
      ++found_.sound;
    } else if (counts_behind_damage(number, of_log, continues)) {
      ++found_.behind_damage;
    }
  }
  const Findings& found() const { return found_; }

 private:
  // Behind a bad frame, one of another log continues nothing; most are zeros written ahead.
  bool continues_the_one_before(const Frame& frame, bool of_log) {
    const Checksum stored = frame.stored_sum();
    if (found_.bad_frame != 0 && !of_log) {
      stored_ = computed_ = stored;
      return false;
    }
    // A frame may continue the checksum that stands before it or, if damage has hit that one, the
    // checksum that should stand there.
    const Checksum from_stored = frame.sum_after(stored_, log_);
    const bool fits = stored == from_stored ||
                      (stored_ != computed_ && stored == frame.sum_after(computed_, log_));
    stored_ = stored;
    computed_ = from_stored;
    return fits;
  }

  // The first end of a transaction counts by its header alone: a tear may have spared that and
  // nothing else. Later ones must be proved, by a frame before them that they continue: a
  // transaction that a full disk cut short leaves headers as well.
  bool counts_behind_damage(std::uint64_t number, bool of_log, bool continues) const {
    if (found_.behind_damage == 0) return of_log || (continues && number == found_.bad_frame);
    return of_log && continues;
  }

  const LogHeader& log_;
  Checksum stored_;
  Checksum computed_;
  Findings found_;
};

Result<Findings> read_frames(VfsFile& file, const LogHeader& header) {
  Frame frame(header.page_size);
  Reader reader(header);
  const std::uint64_t count = (file.size() - kHeaderSize) / frame.bytes.size();
  for (std::uint64_t number = 1; number <= count; ++number) {
    MUSTER_CHECK(file.read(kHeaderSize + (number - 1) * frame.bytes.size(), frame.bytes));
    reader.take(frame, number);
  }
  return reader.found();
}

}  // namespace

Result<LogInspection> inspect_log(const std::string& wal_file, const std::string& vfs) {
  MUSTER_TRY(VfsFile file, VfsFile::open(wal_file, vfs));
  if (file.size() < kHeaderSize) return LogInspection{};
  std::vector<unsigned char> bytes(kHeaderSize);
  MUSTER_CHECK(file.read(0, bytes));
  // A file that has its length but not yet its first bytes: the power failed while it was being
  // made.
  if (std::ranges::all_of(bytes, [](unsigned char byte) { return byte == 0; }))
    return LogInspection{};
  const auto header = parse_header(bytes);
  // Not torn: it is written at once, and disks write a sector as a whole.
  if (!header) {
    return LogInspection{
        .damage = fmt::format("{}: its header is damaged, so that no change in it can be read",
                              wal_file)};
  }
  MUSTER_TRY(const Findings found, read_frames(file, *header));
  const std::uint64_t frame_size = kFrameHeaderSize + header->page_size;
  LogInspection inspection{
      .damage = "",
      .sound_end = kHeaderSize + found.last_commit * frame_size,
      .torn_end = kHeaderSize + std::max(found.last_commit, found.last_of_log) * frame_size};
  if (found.behind_damage >= 2) {
    inspection.damage = fmt::format(
        "{}: frame {} (at byte {}) is damaged, so that this transaction and at least {} after it "
        "cannot be read; the {} before it can",
        wal_file, found.bad_frame, kHeaderSize + (found.bad_frame - 1) * frame_size,
        found.behind_damage - 1, found.sound);
  }
  return inspection;
}

}  // namespace muster::store
