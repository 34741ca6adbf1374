// How much a pod may be given. A pod names what it wants by reference ($(NAME), envFrom, items), so
// a few bytes of it can stand for more than the machine's memory. Everything that follows such
// references counts what it makes and stops at these limits with Code::kTooLarge.
#pragma once

#include <cstddef>

namespace muster::agent {

// MAX_ARG_STRLEN of execve: one argument, or NAME=value, without the null at its end.
inline constexpr std::size_t kMostWord = (std::size_t{128} << 10) - 1;

// All arguments and variables of one program, each with its null and its pointer: three quarters of
// 8 MiB, the most that Linux takes however large the stack may be. Where it takes less, it says so.
inline constexpr std::size_t kMostWords = std::size_t{6} << 20;

// PATH_MAX of Linux.
inline constexpr std::size_t kMostPath = 4096;

// The files of all volumes of one pod that are made of objects. An object has about 1 MiB at most,
// so this is more than sixty of the largest; the files are made by the thread that serves all pods.
inline constexpr std::size_t kMostPayload = std::size_t{64} << 20;

// What a file or folder counts at least, as it does on disk: files without a byte are not free.
inline constexpr std::size_t kLeastFile = 4096;

}  // namespace muster::agent
