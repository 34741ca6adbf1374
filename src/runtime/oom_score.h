// Whom the kernel ends when the machine's memory is used up.
#pragma once

namespace muster::runtime {

// What a pod's processes have more than an ordinary process, out of 1000: each point counts as much
// as a thousandth of the memory, so a server is spared until it uses more than half of it.
inline constexpr int kPodOomScore = 500;
inline constexpr int kMostOomScore = 1000;

int oom_score_of_pods(int own);

// For a process of a pod that does not share its memory with others, while it still has its rights:
// then it cannot go back. All that it makes inherit it. Where /proc does not let us, nothing
// changes.
void be_ended_before_the_server();

}  // namespace muster::runtime
