// Work that is done in turns of the loop, as soon as somebody has asked for it. However often it is
// asked for before a turn, there is one. Other tasks of the loop run between two turns. Used on one
// loop.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/loop.h"
#include "client/informer.h"

namespace muster::controllers {

class Turns {
 public:
  // `take` works for some milliseconds at most, and returns whether there is more to do. It is not
  // called before each of the sources is complete: half a state is no ground for a decision. The
  // sources outlive this.
  Turns(Loop& loop, std::vector<client::Informer*> sources, std::function<bool()> take)
      : loop_(loop), sources_(std::move(sources)), take_(std::move(take)) {}
  ~Turns() { *alive_ = false; }
  Turns(const Turns&) = delete;

  void wake();
  bool idle() const { return !awake_; }

 private:
  void begin();

  Loop& loop_;
  std::vector<client::Informer*> sources_;
  std::function<bool()> take_;
  bool awake_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::controllers
