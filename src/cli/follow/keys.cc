#include "cli/follow/keys.h"

#include <unistd.h>

#include <array>
#include <utility>

namespace muster::cli {

std::vector<Key> keys_in(std::string_view bytes) {
  constexpr std::array<std::pair<std::string_view, Special>, 8> kSequences = {
      {{"\x1b[A", Special::kUp},
       {"\x1b[B", Special::kDown},
       {"\x1b[C", Special::kRight},
       {"\x1b[D", Special::kLeft},
       {"\x1bOA", Special::kUp},
       {"\x1bOB", Special::kDown},
       {"\r", Special::kEnter},
       {"\n", Special::kEnter}}};
  std::vector<Key> keys;
  while (!bytes.empty()) {
    std::size_t length = 1;
    Key key = bytes[0] == '\x1b' ? Key(Special::kEscape) : Key(bytes[0]);
    for (const auto& [sequence, special] : kSequences) {
      if (!bytes.starts_with(sequence)) continue;
      key = Key(special);
      length = sequence.size();
    }
    keys.push_back(key);
    bytes.remove_prefix(length);
  }
  return keys;
}

Keys::Keys(Loop& loop, std::function<void(Key)> pressed) : loop_(loop) {
  termios now{};
  if (::tcgetpgrp(STDIN_FILENO) != ::getpgrp() || ::tcgetattr(STDIN_FILENO, &now) != 0) return;
  before_ = now;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  now.c_cc[VMIN] = 1;
  now.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
  loop_.watch_readable(STDIN_FILENO, [this, pressed = std::move(pressed)] {
    std::array<char, 64> bytes{};
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got <= 0) return loop_.unwatch(STDIN_FILENO);
    for (const Key key : keys_in({bytes.data(), static_cast<std::size_t>(got)})) pressed(key);
  });
}

Keys::~Keys() {
  if (!before_) return;
  loop_.unwatch(STDIN_FILENO);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
}

}  // namespace muster::cli
