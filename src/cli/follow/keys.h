// Single keys from the terminal, as they are pressed.
#pragma once

#include <termios.h>

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/loop.h"

namespace muster::cli {

// A letter, or one of these.
enum class Special : int { kUp = 256, kDown, kLeft, kRight, kEscape, kEnter };
struct Key {
  int code = 0;
  Key() = default;
  explicit Key(char letter) : code(static_cast<unsigned char>(letter)) {}
  explicit Key(Special special) : code(static_cast<int>(special)) {}
  bool operator==(const Key&) const = default;
};

// The keys in a piece of input; sequences of cursor keys are one key. Pure.
std::vector<Key> keys_in(std::string_view bytes);

class Keys {
 public:
  // Does nothing if standard input is no terminal, or we are in its background.
  Keys(Loop& loop, std::function<void(Key)> pressed);
  ~Keys();  // the terminal is as it was
  Keys(const Keys&) = delete;

 private:
  Loop& loop_;
  std::optional<termios> before_;
};

}  // namespace muster::cli
