#include "runtime/device_rules.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/unique_fd.h"
#include "runtime/read_file.h"

namespace muster::runtime {
namespace device_rules_test {

// Executes a program as the kernel would, as far as device programs go. Nothing for what the kernel
// would not take: an unknown instruction, or a run off the end.
std::optional<std::int64_t> execute(std::span<const bpf_insn> program, bpf_cgroup_dev_ctx context) {
  std::array<std::uint64_t, MAX_BPF_REG> registers{};
  for (std::size_t at = 0; at < program.size(); ++at) {
    const bpf_insn& step = program[at];
    std::uint64_t& target = registers[step.dst_reg];
    const auto constant = static_cast<std::uint64_t>(std::int64_t{step.imm});
    const auto offset = static_cast<std::size_t>(step.off);
    switch (step.code) {
      case BPF_LDX | BPF_MEM | BPF_W: {
        if (step.src_reg != BPF_REG_1 || offset + 4 > sizeof context) return std::nullopt;
        std::uint32_t word = 0;
        std::memcpy(&word, reinterpret_cast<const char*>(&context) + offset, sizeof word);
        target = word;
        break;
      }
      case BPF_ALU | BPF_AND | BPF_K:
        target = static_cast<std::uint32_t>(target & constant);
        break;
      case BPF_ALU64 | BPF_MOV | BPF_K:
        target = constant;
        break;
      case BPF_JMP | BPF_JNE | BPF_K:
        at += target != constant ? offset : 0;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += target == constant ? offset : 0;
        break;
      case BPF_JMP | BPF_EXIT:
        return static_cast<std::int64_t>(registers[BPF_REG_0]);
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

constexpr std::uint32_t kRead = BPF_DEVCG_ACC_READ << 16, kWrite = BPF_DEVCG_ACC_WRITE << 16,
                        kMake = BPF_DEVCG_ACC_MKNOD << 16;
constexpr std::uint32_t kChar = BPF_DEVCG_DEV_CHAR, kBlock = BPF_DEVCG_DEV_BLOCK;

struct Attempt {
  const char* what;
  std::vector<int> denied;
  bpf_cgroup_dev_ctx context;  // kind and access, major, minor
  std::int64_t verdict;
};

TEST(DeviceProgram, RefusesCharacterDevicesOfTheDeniedMajorNumbers) {
  const std::vector<Attempt> attempts = {
      {"the only one", {195}, {kRead | kChar, 195, 0}, 0},
      {"any minor number", {195}, {kRead | kChar, 195, 255}, 0},
      {"to write", {195}, {kWrite | kChar, 195, 0}, 0},
      {"to read and write", {195}, {kRead | kWrite | kChar, 195, 0}, 0},
      {"to make", {195}, {kMake | kChar, 195, 0}, 0},
      {"the first of three", {195, 508, 511}, {kRead | kChar, 195, 0}, 0},
      {"the second", {195, 508, 511}, {kRead | kChar, 508, 0}, 0},
      {"the last", {195, 508, 511}, {kRead | kChar, 511, 0}, 0},
      {"a neighbour", {195, 508, 511}, {kRead | kChar, 509, 0}, 1},
      {"one whose minor number is denied", {195}, {kRead | kChar, 1, 195}, 1},
      {"a disk of the same number", {195}, {kRead | kBlock, 195, 0}, 1},
      {"no device is denied", {}, {kRead | kChar, 195, 0}, 1},
  };
  for (const Attempt& attempt : attempts)
    EXPECT_EQ(execute(device_program(attempt.denied), attempt.context), attempt.verdict)
        << attempt.what;
}

TEST(DeviceProgram, CanDenyEveryMajorNumber) {
  std::vector<int> all;
  for (int major = 0; major < static_cast<int>(kMostMajors); ++major) all.push_back(major);
  for (const std::uint32_t major : {0U, 1U, 255U, 511U})
    EXPECT_EQ(execute(device_program(all), {kRead | kChar, major, 0}), 0) << major;
  EXPECT_EQ(execute(device_program(all), {kRead | kChar, 512, 0}), 1);
}

// A group of version 2, wherever that is mounted; gone with the test.
class DeviceRulesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream mounts("/proc/self/mounts");
    for (std::string source, point, type, rest; mounts >> source >> point >> type;) {
      std::getline(mounts, rest);
      if (type == "cgroup2") folder_ = fmt::format("{}/muster-test-{}", point, ::getpid());
    }
    if (folder_.empty()) GTEST_SKIP() << "no control groups of version 2 are mounted";
    if (::mkdir(folder_.c_str(), 0755) != 0)
      GTEST_SKIP() << folder_ << ": " << std::strerror(errno);
    ::mkdir(inner().c_str(), 0755);
    const Status denied = deny_devices_in(folder_, std::array{kMemoryDevices});
    ASSERT_TRUE(denied || denied.error().message.find("Invalid argument") == std::string::npos)
        << "the program itself is refused";
    if (!denied) GTEST_SKIP() << denied.error().message;
  }
  void TearDown() override {
    if (folder_.empty()) return;
    ::rmdir(inner().c_str());
    ::rmdir(folder_.c_str());
  }
  std::string inner() const { return folder_ + "/inner"; }

  // How opening the file ends for a process in the group: 0 or errno.
  static int open_in(const std::string& group, const char* file) {
    const pid_t child = ::fork();
    if (child == 0) {
      const UniqueFd procs(::open((group + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
      if (::write(procs.get(), "0", 1) != 1) ::_exit(ENOTRECOVERABLE);
      const bool opened = UniqueFd(::open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC)).valid();
      ::_exit(opened ? 0 : errno);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
  }
  static constexpr int kMemoryDevices = 1;  // /dev/null, /dev/zero …
  std::string folder_;
};

TEST_F(DeviceRulesTest, KernelTakesTheProgramAndAsksIt) {
  EXPECT_EQ(open_in(folder_, "/dev/zero"), EPERM);
  EXPECT_EQ(open_in(folder_, "/dev/null"), EPERM);
  EXPECT_EQ(open_in(folder_, "/dev/ptmx"), 0) << "another major number";
  EXPECT_TRUE(UniqueFd(::open("/dev/zero", O_RDONLY | O_CLOEXEC)).valid()) << "only in the group";
}

TEST_F(DeviceRulesTest, HoldInGroupsBelow) {
  EXPECT_EQ(open_in(inner(), "/dev/zero"), EPERM);
  EXPECT_EQ(open_in(inner(), "/dev/ptmx"), 0);
}

TEST_F(DeviceRulesTest, AskingAgainAddsNothing) {
  // The kernel takes 64 programs in a group.
  for (int i = 0; i < 70; ++i)
    ASSERT_TRUE(deny_devices_in(folder_, std::array{kMemoryDevices})) << i;
  EXPECT_EQ(open_in(folder_, "/dev/zero"), EPERM);
}

TEST(DeviceRules, SayWhatIsMissing) {
  const Status denied = deny_devices_in("/nonexistent", std::array{1});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().message, "/nonexistent: No such file or directory");
}

}  // namespace device_rules_test
}  // namespace muster::runtime
