// What a store must hold after a crash: everything that was acknowledged, nothing that was refused,
// and of the one group whose fate is not known all or nothing.
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
  // Writes a random group to the store, in one transaction, and notes what became of it.
  void write_group(Store& store, Rng& rng) {
    Contents after = settled_;
    std::vector<Write> writes;
    for (std::uint64_t i = 1 + rng.below(4); i > 0; --i) writes.push_back(random_write(after, rng));
    std::vector<Result<ObjectPtr>> answers;
    // Submitted from a callback, so that they wait together.
    store.submit(remove_of(pod("no-such-pod"), 1), [&](const Result<ObjectPtr>&) {
      for (Write& write : writes) {
        store.submit(std::move(write),
                     [&](Result<ObjectPtr> answer) { answers.push_back(std::move(answer)); });
      }
    });
    settle(answers, after);
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

  void settle(const std::vector<Result<ObjectPtr>>& answers, const Contents& after) {
    last_error_.reset();
    for (const auto& answer : answers) {
      if (!answer) last_error_ = answer.error().code;
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
