#include "cli/follow/writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "base/unique_fd.h"

namespace muster::cli {
namespace writer_test {

struct Pipe {
  Pipe() {
    ::signal(SIGPIPE, SIG_IGN);  // as the command does
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    reader = UniqueFd(ends[0]);
    writer = UniqueFd(ends[1]);
  }
  std::string read_some() const {
    std::string text(256 * 1024, '\0');
    const ssize_t got = ::read(reader.get(), text.data(), text.size());
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }
  UniqueFd reader, writer;
};

TEST(Writer, WritesInOrderAndTellsWhenAllIsWritten) {
  const auto loop = make_real_loop();
  const Pipe pipe;
  Writer writer(*loop, pipe.writer.get(), {});
  writer.write("one\n");
  writer.write("two\n");
  writer.when_written([&] { loop->stop(); });
  loop->run();
  EXPECT_EQ(writer.unwritten(), 0u);
  EXPECT_EQ(pipe.read_some(), "one\ntwo\n");
}

TEST(Writer, NobodyWaitsForWhoDoesNotRead) {
  const auto loop = make_real_loop();
  Pipe pipe;
  Writer writer(*loop, pipe.writer.release(), {});  // its thread outlives it
  writer.write(std::string(Writer::kFull + (1u << 20), 'x'));
  EXPECT_TRUE(writer.is_full());
  writer.write(std::string(Writer::kMost, 'x'));  // left out
  EXPECT_LE(writer.unwritten(), Writer::kMost);
}  // nor does its end

TEST(Writer, TellsWhenThereIsRoomAgain) {
  const auto loop = make_real_loop();
  const Pipe pipe;
  int told = 0;
  Writer writer(*loop, pipe.writer.get(), {.room = [&] { ++told; }, .failed = {}});
  const std::size_t all = Writer::kFull + 5;
  writer.write(std::string(all, 'x'));
  writer.when_written([&] { loop->stop(); });
  for (std::size_t got = 0; got < all;) got += pipe.read_some().size();
  loop->run();
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(writer.is_full());
}

TEST(Writer, TellsThatTheReaderHasGoneBeforeItSaysThatAllIsDone) {
  const auto loop = make_real_loop();
  Pipe pipe;
  pipe.reader = UniqueFd();
  std::optional<int> failed;
  Writer writer(*loop, pipe.writer.get(),
                {.room = {}, .failed = [&](int error) { failed = error; }});
  writer.write("one\n");
  writer.write("two\n");
  std::optional<int> failed_before;
  writer.when_written([&] {
    failed_before = failed;
    loop->stop();
  });
  loop->run();
  EXPECT_EQ(failed_before, EPIPE);
  writer.write("three\n");
  EXPECT_EQ(writer.unwritten(), 0u);
}

TEST(Writer, TellsThatTheDiskIsFull) {
  const auto loop = make_real_loop();
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  int failed = 0;
  Writer writer(*loop, full.get(), {.room = {}, .failed = [&](int error) { failed = error; }});
  writer.write("one\n");
  writer.when_written([&] { loop->stop(); });
  loop->run();
  EXPECT_EQ(failed, ENOSPC);
}

}  // namespace writer_test
}  // namespace muster::cli
