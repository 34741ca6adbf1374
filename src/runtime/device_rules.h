// Device rules under cgroup v2, which has no controller for them: the kernel runs a small program
// for every attempt to open or make a device in a control group, and the program decides.
#pragma once

#include <linux/bpf.h>

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace muster::runtime {

// Linux has no more major numbers for character devices (CHRDEV_MAJOR_MAX in fs/char_dev.c).
inline constexpr std::size_t kMostMajors = 512;

// A program that refuses every access to character devices with these major numbers and allows all
// else. Pure. REQUIRES: at most kMostMajors of them.
std::vector<bpf_insn> device_program(std::span<const int> majors);

// From now on no process in the group of version 2 at `folder`, or in one below it, can open such
// devices, except through what is open already. The rule lives as long as the group, whatever
// becomes of this process. A group that has rules keeps them: asking again adds nothing. Needs
// CAP_BPF and CAP_NET_ADMIN in the machine's own user namespace, as root has them; kUnavailable
// says what was refused.
Status deny_devices_in(const std::string& folder, std::span<const int> majors);

}  // namespace muster::runtime
