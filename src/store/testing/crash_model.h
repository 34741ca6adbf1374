// What a store must hold after a crash: everything that was acknowledged, nothing that was refused,
// and of the one group whose fate is not known all or nothing. So no list is there in part.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "store/testing/faulty_vfs.h"
#include "store/testing/store_fixture.h"

namespace muster::store::testing {

// The newest version of each object, by "resource ns/name", and the newest revision.
struct Contents {
  Revision revision = kFirstRevision;
  std::map<std::string, std::string> objects;
  bool operator==(const Contents&) const = default;

  static std::string key_of(const Key& key) {
    return fmt::format("{} {}/{}", key.resource, key.ns, key.name);
  }
  static Contents of(const Snapshot& snapshot) {
    Contents contents{snapshot.revision(), {}};
    for (int resource = 0; resource < static_cast<int>(test_resources().size()); ++resource) {
      snapshot.scan(resource, {}, [&](const ObjectPtr& o) {
        contents.objects[fmt::format("{} {}", resource, o->path())] = o->bytes();
        return true;
      });
    }
    return contents;
  }
  std::string summary() const {
    std::string text = fmt::format("revision {}:", revision);
    for (const auto& [key, value] : objects)
      text += fmt::format(" [{}] {}", key, value.substr(0, 24));
    return text;
  }
};

class CrashModel {
 public:
  // The most writes in a random group, and the fewest and the most in a random list. A store whose
  // groups may have kMaxGroup writes makes each of both one transaction.
  static constexpr std::size_t kMaxGroup = 8;
  static constexpr std::size_t kMinList = kMaxGroup + 1;
  static constexpr std::size_t kMaxList = 24;

  // Writes a random group to the store, in one transaction, and notes what became of it: up to four
  // writes in one or more lists, and at times one more list, which is refused.
  void write_group(Store& store, Rng& rng) {
    Contents after = settled_;
    std::vector<Submitted> group;
    bool refuse_one = rng.chance(0.3);
    for (std::size_t left = 1 + rng.below(4); left > 0;) {
      const bool refused = refuse_one && rng.chance(0.5);
      if (refused) refuse_one = false;
      const std::size_t size = 1 + rng.below(refused ? 4 : rng.chance(0.5) ? 1 : left);
      group.push_back(random_list(after, size, refused, rng));
      if (!refused) left -= size;
    }
    // Submitted from a callback, so that they wait together.
    store.submit(remove_of(pod("no-such-pod"), 1), [&](const Result<ObjectPtr>&) {
      for (Submitted& each : group) submit(store, each);
    });
    settle(group, after);
  }

  // Writes one list that is larger than a group.
  void write_list(Store& store, Rng& rng) {
    Contents after = settled_;
    std::vector<Submitted> group;
    const std::size_t size = kMinList + rng.below(kMaxList - kMinList + 1);
    group.push_back(random_list(after, size, /*refused=*/false, rng));
    submit(store, group.front());
    settle(group, after);
  }

  void write_any(Store& store, Rng& rng) {
    if (rng.chance(0.3)) {
      write_list(store, rng);
    } else {
      write_group(store, rng);
    }
  }

  // Also usable when the fate of the last group is open: then the store decides it.
  ::testing::AssertionResult agrees_with(const Store& store) {
    const Contents found = Contents::of(*store.snapshot());
    if (found == settled_) {
      open_.reset();
      return ::testing::AssertionSuccess();
    }
    if (open_ && found == *open_) {
      settled_ = *std::exchange(open_, std::nullopt);
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure()
           << "\nfound     " << found.summary() << "\nexpected  " << settled_.summary()
           << (open_ ? "\nor        " + open_->summary() : std::string());
  }

  const Contents& settled() const { return settled_; }
  std::optional<Code> last_error() const { return last_error_; }
  bool in_doubt() const { return open_.has_value(); }

 private:
  struct Submitted {
    std::vector<Write> list;
    std::optional<std::size_t> refused;  // the write that will be, by its place
    std::optional<ListResult> answer;
  };

  static void submit(Store& store, Submitted& submitted) {
    store.submit(std::move(submitted.list),
                 [&](ListResult answer) { submitted.answer = std::move(answer); });
  }

  // If `refused`, one of its writes cannot be done, and the list changes nothing.
  Submitted random_list(Contents& contents, std::size_t size, bool refused, Rng& rng) {
    Submitted submitted;
    Contents after = contents;
    if (refused) submitted.refused = rng.below(size);
    while (submitted.list.size() < size) {
      if (submitted.list.size() == submitted.refused) {
        submitted.list.push_back(put_of(pod("no-such-pod"), "", 1));
      } else {
        submitted.list.push_back(random_write(after, rng));
      }
    }
    if (!refused) contents = std::move(after);
    return submitted;
  }

  Write random_write(Contents& contents, Rng& rng) {
    const Key key = rng.chance(0.7) ? pod(fmt::format("p{}", rng.below(6)))
                                    : job(fmt::format("j{}", rng.below(3)));
    const auto current = contents.objects.find(Contents::key_of(key));
    const Revision revision = ++contents.revision;
    if (current != contents.objects.end() && rng.chance(0.3)) {
      const Revision expected = revision_in(current->second);
      contents.objects.erase(current);
      return remove_of(key, expected);
    }
    const std::string body = fmt::format("{}-{}", revision, std::string(random_size(rng), 'x'));
    const Revision expected = current == contents.objects.end() ? 0 : revision_in(current->second);
    contents.objects[Contents::key_of(key)] = text_of(revision, body);
    return put_of(key, body, expected);
  }

  // Mostly small, now and then more than a page.
  static std::size_t random_size(Rng& rng) { return rng.below(rng.chance(0.1) ? 20'000 : 600); }
  static Revision revision_in(const std::string& text) { return std::stoull(text.substr(7)); }

  // Refused lists have changed nothing; all others have the same fate.
  void settle(const std::vector<Submitted>& group, const Contents& after) {
    last_error_.reset();
    for (const Submitted& each : group) {
      ASSERT_TRUE(each.answer);
      if (*each.answer) {
        EXPECT_FALSE(each.refused) << "a list was done that could not be";
        continue;
      }
      const auto& [error, refused] = each.answer->error();
      if (refused && refused == each.refused) continue;
      EXPECT_FALSE(refused) << "write " << *refused << " of a list: " << error.message;
      last_error_ = error.code;
    }
    if (!last_error_) {
      settled_ = after;
    } else if (*last_error_ == Code::kInternal) {
      open_ = after;  // not known what is on disk
    }  // kUnavailable: nothing was written
  }

  Contents settled_;
  std::optional<Contents> open_;
  std::optional<Code> last_error_;
};

}  // namespace muster::store::testing
