// Removes folders of pods and claims that are gone, on a thread of its own: that may take long.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"

namespace muster::agent {

class Disposal {
 public:
  Disposal() = default;
  ~Disposal();  // what is left is removed by the next agent
  Disposal(const Disposal&) = delete;

  // Folders that wait for their turn; what comes on top is left to the next agent, too.
  static constexpr std::size_t kMaxWaiting = 100'000;

  void remove_pod(std::string directory);  // volumes first, as they know their own rules
  void remove_logs(std::string directory);
  void remove_claim(std::string directory);
  void remove_tree(std::string directory);  // whatever pods have put into it

 private:
  void add(std::string what, std::function<Status()> remove);
  void work();

  struct Item {
    std::string what;
    std::function<Status()> remove;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> waiting_;
  bool stopping_ = false;
  std::thread thread_;  // from the first folder on
};

}  // namespace muster::agent
