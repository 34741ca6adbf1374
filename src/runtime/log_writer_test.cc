#include "runtime/log_writer.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/testing.h"

namespace muster::runtime {
namespace log_writer_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::SizeIs;

class LogWriterTest : public testing::Test {
 protected:
  LogWriterTest() {
    char name[] = "/tmp/muster-log-XXXXXX";
    directory_ = mkdtemp(name);
    file_ = directory_ + "/0.log";
  }
  ~LogWriterTest() override { std::filesystem::remove_all(directory_); }

  std::vector<std::string> lines() const {
    std::istringstream text(read_text(file_));
    std::vector<std::string> found;
    for (std::string line; std::getline(text, line);) found.push_back(line);
    return found;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }

  ManualClock clock_{*parse_time("2026-11-15T16:44:16.123456Z")};
  std::string directory_;
  std::string file_;
};

TEST_F(LogWriterTest, LinesOfBothStreamsHaveTimeAndName) {
  LogWriter log(clock_, file_);
  log.append(Stream::kOut, "one\ntw");
  log.append(Stream::kError, "oops\n\n");
  clock_.advance(1s);
  log.append(Stream::kOut, "o\nthree");
  EXPECT_THAT(lines(), SizeIs(4));
  log.finish();
  EXPECT_THAT(lines(), ElementsAre("2026-11-15T16:44:16.123456000Z stdout F one",
                                   "2026-11-15T16:44:16.123456000Z stderr F oops",
                                   "2026-11-15T16:44:16.123456000Z stderr F ",
                                   "2026-11-15T16:44:17.123456000Z stdout F two",
                                   "2026-11-15T16:44:17.123456000Z stdout F three"));
}

TEST_F(LogWriterTest, FileAndFolderAreMadeWithTheFirstLine) {
  file_ = directory_ + "/pod/main.0.log";
  LogWriter log(clock_, file_);
  log.append(Stream::kOut, "");
  EXPECT_THAT(files(), testing::IsEmpty());
  log.append(Stream::kOut, "one");
  log.finish();
  EXPECT_THAT(lines(), SizeIs(1));
}

TEST_F(LogWriterTest, LongLinesComeInPieces) {
  LogWriter log(clock_, file_);
  log.append(Stream::kOut, std::string(kMaxLogLine, 'a'));
  log.append(Stream::kOut, "\n");  // just fits
  log.append(Stream::kOut, std::string(2 * kMaxLogLine + 1, 'b'));
  log.append(Stream::kOut, "\n");
  const std::string prefix = "2026-11-15T16:44:16.123456000Z stdout ";
  EXPECT_THAT(lines(), ElementsAre(prefix + "F " + std::string(kMaxLogLine, 'a'),
                                   prefix + "P " + std::string(kMaxLogLine, 'b'),
                                   prefix + "P " + std::string(kMaxLogLine, 'b'), prefix + "F b"));
}

TEST_F(LogWriterTest, GrownFileIsPutAsideAndOnlyAFewAreKept) {
  LogWriter log(clock_, file_);
  std::string much(15 << 10, 'x');
  much += '\n';
  for (std::uint64_t written = 0; written < 7 * kMaxLogFile; written += much.size()) {
    log.append(Stream::kOut, much);
  }
  EXPECT_THAT(files(),
              ElementsAre("0.log", "0.log.20261115-164416-000003", "0.log.20261115-164416-000004",
                          "0.log.20261115-164416-000005", "0.log.20261115-164416-000006"));
  clock_.advance(1s);
  for (std::uint64_t written = 0; written < kMaxLogFile; written += much.size()) {
    log.append(Stream::kOut, much);
  }
  EXPECT_THAT(files(), testing::Contains("0.log.20261115-164417"));
  EXPECT_THAT(files(), SizeIs(kMaxLogFiles));
}

TEST_F(LogWriterTest, OutputThatFindsNoRoomIsCountedAndSaid) {
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  LogWriter log(clock_, file_);
  log.append(Stream::kOut, "before\n");
  rlimit free{}, full{};
  getrlimit(RLIMIT_FSIZE, &free);
  full = free;
  full.rlim_cur = 60;  // in the middle of the next line
  setrlimit(RLIMIT_FSIZE, &full);
  log.append(Stream::kOut, "lost\n");
  setrlimit(RLIMIT_FSIZE, &free);
  signal(SIGXFSZ, old_handler);
  log.append(Stream::kOut, "after\n");
  EXPECT_THAT(lines(), ElementsAre(testing::EndsWith("stdout F before"),
                                   testing::HasSubstr("stderr F muster: 45 bytes of output were "
                                                      "lost: "),
                                   testing::EndsWith("stdout F after")));
}

}  // namespace log_writer_test
}  // namespace muster::runtime
