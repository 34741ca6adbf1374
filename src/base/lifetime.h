// Callbacks that do nothing once their owner is gone.
//
// An owner that hands out callbacks on itself (to a loop, a client, a child) has a Lifetime as its
// last member, so that it ends first, and hands them out through guard(). Callbacks run on the
// thread on which the owner is destroyed.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <utility>

namespace muster {

class Lifetime {
  struct Token {};

 public:
  // For code that has to know whether a call that it made has ended the owner.
  class Watch {
   public:
    bool ended() const { return token_.expired(); }

   private:
    friend class Lifetime;
    explicit Watch(std::weak_ptr<Token> token) : token_(std::move(token)) {}
    std::weak_ptr<Token> token_;
  };

  Lifetime() = default;
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;

  Watch watch() const { return Watch(token_); }
  // Earlier than by destruction: for a destructor that calls what might call back.
  void end() { token_.reset(); }

  // Calls `callback` for as long as the owner lives. What the callback holds is kept until the
  // returned one is destroyed.
  template <class Callback>
  auto guard(Callback callback) const {
    return
        [watched = watch(), callback = std::move(callback)]<class... Args>(Args&&... args) mutable
      requires std::invocable<Callback&, Args...>
    {
      if (!watched.ended()) std::invoke(callback, std::forward<Args>(args)...);
    };
  }

 private:
  std::shared_ptr<Token> token_ = std::make_shared<Token>();
};

}  // namespace muster
