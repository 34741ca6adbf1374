// The file holds a magic word and the state, on which everyone who waits sleeps with a futex: the
// kernel knows it by file and offset, whatever path or mount namespace it was opened in.
#include "runtime/gate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "base/errno_error.h"
#include "base/rng.h"

namespace muster::runtime {
namespace {

constexpr std::uint32_t kMagic = 0x6574'6167;  // "gate"
constexpr std::uint32_t kShut = 0;
constexpr std::uint32_t kOpen = 1;

struct GateFile {
  std::uint32_t magic;
  std::atomic<std::uint32_t> state;
};
static_assert(sizeof(GateFile) == 8 && std::atomic<std::uint32_t>::is_always_lock_free);

GateFile* map_file(const char* file, bool writable) {
  const int fd = open(file, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return nullptr;
  GateFile* gate = nullptr;
  // Beyond the file's end a mapping cannot be read.
  if (lseek(fd, 0, SEEK_END) == sizeof(GateFile)) {
    void* at = mmap(nullptr, sizeof(GateFile), writable ? PROT_READ | PROT_WRITE : PROT_READ,
                    MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) gate = static_cast<GateFile*>(at);
  }
  close(fd);
  if (gate != nullptr && gate->magic == kMagic) return gate;
  if (gate != nullptr) munmap(gate, sizeof(GateFile));
  return nullptr;
}

std::unexpected<Error> gate_error(const std::string& file, const char* what) {
  return errno_error(fmt::format("{} {}", what, file));
}

}  // namespace

// Written under another name first, so that nobody sees half a gate.
Status make_gate(const std::string& file) {
  Rng rng = Rng::from_system();
  const std::string draft = file + "." + make_uid(rng);
  const int fd = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return gate_error(file, "cannot make the gate");
  const std::uint32_t content[2] = {kMagic, kShut};
  const bool written = write(fd, content, sizeof content) == sizeof content;
  close(fd);
  const bool linked = written && (link(draft.c_str(), file.c_str()) == 0 || errno == EEXIST);
  const int why = errno;
  unlink(draft.c_str());
  errno = why;
  if (!linked) return gate_error(file, "cannot make the gate");
  return {};
}

Status open_gate(const std::string& file) {
  GateFile* gate = map_file(file.c_str(), true);
  if (gate == nullptr) return fail(Code::kInternal, fmt::format("{} is no gate", file));
  gate->state.store(kOpen);
  syscall(SYS_futex, &gate->state, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  munmap(gate, sizeof(GateFile));
  return {};
}

bool gate_is_open(const std::string& file) {
  GateFile* gate = map_file(file.c_str(), false);
  if (gate == nullptr) return false;
  const bool is_open = gate->state.load() == kOpen;
  munmap(gate, sizeof(GateFile));
  return is_open;
}

const std::atomic<std::uint32_t>* map_gate(const char* file) {
  const GateFile* gate = map_file(file, false);
  return gate == nullptr ? nullptr : &gate->state;
}

void wait_at_gate(const std::atomic<std::uint32_t>& gate) {
  while (gate.load() == kShut) {
    syscall(SYS_futex, &gate, FUTEX_WAIT, kShut, nullptr, nullptr, 0);
  }
}

int wait_at_gate(const char* file) {
  const std::atomic<std::uint32_t>* gate = map_gate(file);
  if (gate == nullptr) return -1;
  wait_at_gate(*gate);
  return 0;
}

}  // namespace muster::runtime
