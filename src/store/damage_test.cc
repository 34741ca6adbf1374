// Flipped bytes and cut files: what is read is either exactly what was written, or refused in words
// that name the damage. Only without the note of what was acknowledged may the last transaction of
// a damaged write-ahead log read as never written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "store/testing/crash_model.h"
#include "store/testing/temp_directory.h"

namespace muster::store {
namespace damage_test {

using namespace muster::store::testing;  // NOLINT: verbs of the tests
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class DamageTest : public ::testing::Test {
 protected:
  struct Image {
    std::string database;
    std::string log;
  };

  DamageTest() {
    options.commit_inline = true;
    options.history_events = 3;
    options.history_age = Duration::zero();
  }

  std::string database_file() const { return dir.path() + "/muster.db"; }

  Result<Contents> read(const Image& image) {
    disk.write_file(database_file(), image.database);
    disk.remove_file(database_file() + "-wal");
    disk.remove_file(database_file() + "-journal");
    if (!image.log.empty()) disk.write_file(database_file() + "-wal", image.log);
    auto store = open();
    if (!store) return std::unexpected(store.error());
    return Contents::of(*(*store)->snapshot());
  }
  Result<std::unique_ptr<Store>> open() {
    MUSTER_TRY(auto durability, open_sqlite(dir.path(), {.vfs = disk.vfs(),
                                                         .reserved_log_bytes = 0,
                                                         .checkpoint_thread = false}));
    return open_store(std::move(durability), test_resources(), clock, metrics, options);
  }
  std::vector<std::string> faults(const Image& image) {
    disk.write_file(database_file(), image.database);
    disk.remove_file(database_file() + "-wal");
    if (!image.log.empty()) disk.write_file(database_file() + "-wal", image.log);
    auto found = check_sqlite(dir.path(), {.vfs = disk.vfs()});
    return found ? *found : std::vector<std::string>{found.error().message};
  }

  // As if the kernel had not yet written it when the power failed.
  void lose_note() { std::filesystem::remove(dir / "acknowledged"); }

  // Some of it is forgotten. `states` gets the contents after each group.
  Image write_some(bool close_first, std::vector<Contents>& states, int groups = 12) {
    Rng rng(3);
    CrashModel model;
    auto store = open();
    EXPECT_TRUE(store);
    for (int group = 0; group < groups; ++group) {
      clock.advance(std::chrono::milliseconds(1));
      model.write_group(**store, rng);
      states.push_back(model.settled());
    }
    if (close_first) store->reset();
    return {disk.read_file(database_file()), disk.read_file(database_file() + "-wal")};
  }

  TempDirectory dir;
  FaultyDisk disk;
  Options options;
  ManualClock clock{Time{}};
  Metrics metrics;
};

TEST_F(DamageTest, EveryByteOfTheLastRowsIsCovered) {
  auto store = open();
  ASSERT_TRUE(store);
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(write_and_wait(**store, put_of(pod(name), fmt::format("text of {}", name))));
  }
  const Contents written = Contents::of(*(*store)->snapshot());
  store->reset();
  Image image{disk.read_file(database_file()), ""};
  ASSERT_EQ(*read(image), written);
  // Rows grow downwards in a page: these are c, b and a, one behind the other.
  const std::size_t first = image.database.find("podsdefaultc");
  const std::size_t last = image.database.find("text of a") + std::string("text of a").size();
  ASSERT_LT(first, last);
  for (std::size_t at = first; at < last; ++at) {
    image.database[at] = static_cast<char>(image.database[at] ^ 0x20);
    const auto found = read(image);
    ASSERT_FALSE(found) << at;
    EXPECT_THAT(found.error().message, HasSubstr("/muster.db: "));
    EXPECT_THAT(faults(image), Not(IsEmpty())) << at;
    image.database[at] = static_cast<char>(image.database[at] ^ 0x20);
  }
}

TEST_F(DamageTest, AFlippedByteOfATextIsNamed) {
  auto store = open();
  ASSERT_TRUE(store);
  ASSERT_TRUE(write_and_wait(**store, put_of(job("train", "ml"), "find me")));
  store->reset();
  Image image{disk.read_file(database_file()), ""};
  image.database[image.database.find("find me")] = 'F';
  EXPECT_THAT(faults(image),
              Contains("revision 2 (jobs.batch ml/train) is damaged: its checksum does not fit"));
}

TEST_F(DamageTest, AnyFlippedByteOfTheDatabaseIsFoundOrHarmless) {
  std::vector<Contents> states;
  const Image sound = write_some(/*close_first=*/true, states);
  ASSERT_THAT(sound.log, IsEmpty());
  ASSERT_EQ(*read(sound), states.back());
  Rng rng(4);
  int refused = 0;
  for (std::size_t at = rng.below(13); at < sound.database.size(); at += 1 + rng.below(25)) {
    Image image = sound;
    image.database[at] = static_cast<char>(image.database[at] ^ (1 << rng.below(8)));
    const auto found = read(image);
    if (found) {
      ASSERT_EQ(*found, states.back()) << "byte " << at;
    } else {
      ++refused;
      ASSERT_THAT(faults(image), Not(IsEmpty())) << "byte " << at << ": " << found.error().message;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST_F(DamageTest, ACutDatabaseIsRefusedUnlessOnlyFreeSpaceIsCut) {
  std::vector<Contents> states;
  const Image sound = write_some(/*close_first=*/true, states);
  int refused = 0;
  for (std::size_t size = 0; size < sound.database.size(); size += 509) {
    const Image image{sound.database.substr(0, size), ""};
    const auto found = read(image);
    if (found) {
      ASSERT_EQ(*found, states.back()) << size;
    } else {
      ++refused;
      ASSERT_THAT(faults(image), Not(IsEmpty())) << size;
    }
  }
  EXPECT_GT(refused, 50);
}

TEST_F(DamageTest, AFlippedByteOfTheLogIsFoundOrCostsTheLastTransactionAtMost) {
  options.history_events =
      1'000;  // so that the last transaction is a group and not the forgetting of rows
  std::vector<Contents> states;
  const Image sound = write_some(/*close_first=*/false, states);
  ASSERT_EQ(*read(sound), states.back());
  lose_note();
  Rng rng(5);
  int refused = 0, shortened = 0;
  for (std::size_t at = 0; at < sound.log.size(); at += at < 32 ? 1 : 1 + rng.below(400)) {
    Image image = sound;
    image.log[at] = static_cast<char>(image.log[at] ^ (1 << rng.below(8)));
    const auto found = read(image);
    if (found) {
      ASSERT_THAT(*found, AnyOf(states.back(), states[states.size() - 2])) << "byte " << at;
      if (*found != states.back()) ++shortened;
    } else {
      ++refused;
      ASSERT_THAT(found.error().message, HasSubstr("muster.db-wal: ")) << "byte " << at;
      ASSERT_THAT(faults(image), Contains(HasSubstr("damaged"))) << "byte " << at;
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(shortened, 0);
}

// Nothing in the log says how long it once was: without the note, a cut one reads as the state of
// some earlier moment, never as half a group.
TEST_F(DamageTest, ACutLogReadsAsAnEarlierStateWithoutTheNote) {
  std::vector<Contents> states;
  const Image sound = write_some(/*close_first=*/false, states);
  lose_note();
  states.push_back(Contents{});
  for (std::size_t size = 0; size < sound.log.size(); size += 1'021) {
    const auto found = read({sound.database, sound.log.substr(0, size)});
    if (!found) {
      // Cut before the tables were made, in a directory that says it had them.
      ASSERT_THAT(found.error().message, HasSubstr("it is empty, although there was data in it"))
          << size;
    } else {
      ASSERT_THAT(states, Contains(*found)) << size;
    }
  }
}

TEST_F(DamageTest, ACutLogIsRefused) {
  options.history_events = 1'000;
  std::vector<Contents> states;
  const Image sound = write_some(/*close_first=*/false, states);
  for (std::size_t size = 0; size < sound.log.size(); size += 1'021) {
    const Image image{sound.database, sound.log.substr(0, size)};
    const auto found = read(image);
    ASSERT_FALSE(found) << size;
    ASSERT_THAT(faults(image), Not(IsEmpty())) << size;
  }
}

// A disk loses a block: it reads as zeros, as rubbish, or as what belongs to another place. A block
// of 4 KiB always reaches into two frames.
class LostBlockTest : public DamageTest {
 protected:
  static constexpr std::size_t kBlock = 4'096;
  static constexpr int kGroups = 60;

  LostBlockTest() {
    options.history_events = 1'000;  // every transaction is a group
    sound = write_some(/*close_first=*/false, states, kGroups);
  }

  Image without_block(std::size_t at, int kind) {
    Image image = sound;
    const std::size_t size = std::min(kBlock, image.log.size() - at);
    switch (kind) {
      case 0:
        image.log.replace(at, size, std::string(size, '\0'));
        break;
      case 1:
        for (std::size_t i = 0; i < size; ++i)
          image.log[at + i] = static_cast<char>(rng.below(256));
        break;
      default:
        image.log.replace(at, size, sound.log.substr(0, size));
    }
    return image;
  }
  template <class Judge>
  void for_every_block(const Judge& judge) {
    for (const std::size_t step : {kBlock, std::size_t{1'021}}) {
      for (std::size_t at = 0; at < sound.log.size(); at += step) {
        const Image image = without_block(at, static_cast<int>(rng.below(3)));
        if (image.log != sound.log) judge(at, image);
        if (HasFatalFailure()) return;
      }
    }
  }

  Rng rng{6};
  std::vector<Contents> states;
  Image sound;
};

TEST_F(LostBlockTest, IsNamedWhereverItIs) {
  int refused = 0;
  for_every_block([&](std::size_t at, const Image& image) {
    const auto found = read(image);
    if (found) {
      ASSERT_EQ(*found, states.back()) << "block at " << at;
      return;
    }
    ++refused;
    ASSERT_THAT(found.error().message,
                AnyOf(HasSubstr("muster.db-wal: frame "), HasSubstr("muster.db-wal: its header"),
                      HasSubstr("muster.db-wal: what can be read ends at byte"),
                      HasSubstr("it is empty, although there was data in it")))
        << "block at " << at;
    ASSERT_THAT(faults(image), Not(IsEmpty())) << "block at " << at;
  });
  EXPECT_GT(refused, 200);
}

// Then the log has to speak for itself. Damage to one of the last transactions may look like one
// that the power cut tore.
TEST_F(LostBlockTest, IsFoundWithoutTheNoteUnlessItIsAmongTheLastTransactions) {
  lose_note();
  // One reaches into two frames; behind them it takes one to prove the next one.
  constexpr std::size_t kUnprovable = 3;
  for_every_block([&](std::size_t at, const Image& image) {
    const auto found = read(image);
    lose_note();
    if (!found) return;
    const auto first_possible = states.end() - 1 - kUnprovable;
    ASSERT_NE(std::find(first_possible, states.end(), *found), states.end()) << "block at " << at;
  });
}

TEST_F(LostBlockTest, SaysWhatCanBeReadAndLeavesItThere) {
  const Image image = without_block(sound.log.size() / 2, 0);
  const auto found = read(image);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("cannot be read; the "));
  EXPECT_THAT(found.error().message, HasSubstr("`muster backup` saves what can be read"));
  EXPECT_EQ(disk.read_file(database_file() + "-wal"), image.log);
  EXPECT_EQ(disk.read_file(database_file()), image.database);
}

// Otherwise the remains of several power cuts would look like transactions behind damage.
TEST_F(LostBlockTest, TheRemainsOfATornTransactionAreErasedAtTheNextStart) {
  lose_note();
  constexpr std::size_t kFrame = 24 + 4'096;
  const std::size_t last_frame = 32 + (sound.log.size() - 32) / kFrame * kFrame - kFrame;
  Image torn = sound;
  torn.log[last_frame + 100] = static_cast<char>(torn.log[last_frame + 100] ^ 1);
  disk.write_file(database_file(), torn.database);
  disk.write_file(database_file() + "-wal", torn.log);
  const auto store = open();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(Contents::of(*(*store)->snapshot()), states[states.size() - 2]);
  const std::string tail = disk.read_file(database_file() + "-wal").substr(last_frame);
  EXPECT_EQ(tail, std::string(tail.size(), '\0'));
}

}  // namespace damage_test
}  // namespace muster::store
