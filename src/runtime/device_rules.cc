#include "runtime/device_rules.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/unique_fd.h"

namespace muster::runtime {
namespace {

// The low half of access_type is the kind of device, the high half what is attempted.
constexpr std::int32_t kKindMask = 0xffff;

constexpr std::int32_t kDenied = 0, kAllowed = 1;

// Registers: the verdict, the context that the kernel passes, and two of our own.
enum : std::uint8_t {
  kVerdictRegister = BPF_REG_0,
  kContextRegister = BPF_REG_1,
  kKindRegister = BPF_REG_2,
  kMajorRegister = BPF_REG_3
};

bpf_insn instruction(int code, std::uint8_t target, std::int32_t constant) {
  bpf_insn made{};
  made.code = static_cast<std::uint8_t>(code);
  made.dst_reg = target & 0xf;
  made.imm = constant;
  return made;
}

bpf_insn load(std::uint8_t target, std::size_t offset) {
  bpf_insn made = instruction(BPF_LDX | BPF_MEM | BPF_W, target, 0);
  made.src_reg = kContextRegister;
  made.off = static_cast<std::int16_t>(offset);
  return made;
}

// `over`: how many of the instructions that follow are left out if the condition holds.
bpf_insn jump(int condition, std::uint8_t left, std::int32_t right, std::size_t over) {
  bpf_insn made = instruction(BPF_JMP | condition | BPF_K, left, right);
  made.off = static_cast<std::int16_t>(over);
  return made;
}

Error refused(const std::string& what) {
  const int why = errno;
  const char* help =
      why == EPERM ? "; it needs CAP_BPF and CAP_NET_ADMIN: start the server as root" : "";
  return {.code = Code::kUnavailable,
          .message = fmt::format("{}: {}{}", what, std::strerror(why), help)};
}

// The system call takes a union of which each command reads its own part, and insists on zeros in
// the rest, which `{}` does not promise.
bpf_attr no_attributes() {
  bpf_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  return attributes;
}

long bpf(bpf_cmd command, bpf_attr& attributes) {
  return syscall(SYS_bpf, command, &attributes, sizeof attributes);
}

Result<UniqueFd> load_program(std::span<const bpf_insn> program) {
  bpf_attr attributes = no_attributes();
  attributes.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  attributes.insns = reinterpret_cast<std::uintptr_t>(program.data());
  attributes.insn_cnt = static_cast<std::uint32_t>(program.size());
  // Matters for functions of the kernel that only some licenses may call; this calls none.
  attributes.license = reinterpret_cast<std::uintptr_t>("");
  const long fd = bpf(BPF_PROG_LOAD, attributes);
  if (fd < 0) return std::unexpected(refused("cannot load a device program"));
  return UniqueFd(static_cast<int>(fd));
}

Result<std::uint32_t> count_programs(const UniqueFd& group) {
  bpf_attr attributes = no_attributes();
  attributes.query.target_fd = static_cast<std::uint32_t>(group.get());
  attributes.query.attach_type = BPF_CGROUP_DEVICE;
  // With room for none the kernel says how many there are, and ENOSPC from the first on.
  if (bpf(BPF_PROG_QUERY, attributes) != 0 && errno != ENOSPC)
    return std::unexpected(refused("cannot ask for device programs"));
  return attributes.query.prog_cnt;
}

}  // namespace

std::vector<bpf_insn> device_program(std::span<const int> majors) {
  MUSTER_ASSERT(majors.size() <= kMostMajors, "more major numbers than Linux has");
  const auto end_with = [](std::vector<bpf_insn>& program, std::int32_t verdict) {
    program.push_back(instruction(BPF_ALU64 | BPF_MOV | BPF_K, kVerdictRegister, verdict));
    program.push_back(instruction(BPF_JMP | BPF_EXIT, 0, 0));
  };
  std::vector<bpf_insn> program;
  if (majors.empty()) {  // the kernel takes no program with a part that is never reached
    end_with(program, kAllowed);
    return program;
  }
  program = {
      load(kKindRegister, offsetof(bpf_cgroup_dev_ctx, access_type)),
      instruction(BPF_ALU | BPF_AND | BPF_K, kKindRegister, kKindMask),
      // Over the next load and all comparisons.
      jump(BPF_JNE, kKindRegister, BPF_DEVCG_DEV_CHAR, majors.size() + 1),
      load(kMajorRegister, offsetof(bpf_cgroup_dev_ctx, major)),
  };
  // Over the other comparisons and the two instructions that allow.
  for (std::size_t i = 0; i < majors.size(); ++i)
    program.push_back(jump(BPF_JEQ, kMajorRegister, majors[i], majors.size() - i - 1 + 2));
  end_with(program, kAllowed);
  end_with(program, kDenied);
  return program;
}

Status deny_devices_in(const std::string& folder, std::span<const int> majors) {
  const UniqueFd group(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!group.valid()) return std::unexpected(refused(folder));
  MUSTER_TRY(const std::uint32_t already, count_programs(group));
  if (already > 0) return {};
  MUSTER_TRY(const UniqueFd program, load_program(device_program(majors)));
  bpf_attr attributes = no_attributes();
  attributes.target_fd = static_cast<std::uint32_t>(group.get());
  attributes.attach_bpf_fd = static_cast<std::uint32_t>(program.get());
  attributes.attach_type = BPF_CGROUP_DEVICE;
  // Beside those of groups above and below, all of which must allow an access.
  attributes.attach_flags = BPF_F_ALLOW_MULTI;
  if (bpf(BPF_PROG_ATTACH, attributes) != 0)
    return std::unexpected(refused("cannot attach a device program"));
  return {};
}

}  // namespace muster::runtime
