#include "sim/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "client/client.h"
#include "client/feed.h"

namespace muster::sim {
namespace {

// How many of its last writes a stale cache does not know.
constexpr std::size_t kStaleWrites = 3;
// How long it takes until a stale cache hears of what it missed.
constexpr Duration kStaleFor = std::chrono::milliseconds(300);
constexpr std::uint64_t kRepeatedRevisions = 5;

client::Answer refusal(int code, std::string_view reason, std::string_view message) {
  return {.status = code,
          .headers = {{"Content-Type", "application/json"}},
          .body = fmt::format(
              R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure",)"
              R"("message":"{}","reason":"{}","code":{}}})",
              message, reason, code)};
}

bool is_write(const http::Request& request) { return request.method != "GET"; }
bool is_event(const http::Request& request) {
  return request.target.find("/events") != std::string::npos;
}
// By which processes elect their leader, every other second: no crash points, but faults like
// others.
bool is_lease(const http::Request& request) {
  return request.target.find("/leases") != std::string::npos;
}
// The list of a whole kind, as informers ask for it.
bool is_list(const http::Request& request) {
  static const std::set<std::string, std::less<>> kCollections = [] {
    std::set<std::string, std::less<>> paths;
    for (const api::Resource* resource : api::Registry::builtin().resources()) {
      paths.insert(client::url_path(*resource, ""));
    }
    return paths;
  }();
  const std::string_view target = request.target;
  return request.method == "GET" && kCollections.contains(target.substr(0, target.find('?')));
}

// The loop of a feed that is late: what is posted runs some time later, in its order.
class LateLoop final : public Loop {
 public:
  // `run` carries a task out.
  LateLoop(Loop& world, std::function<Duration()> lateness, std::function<void(Task&)> run)
      : world_(world), lateness_(std::move(lateness)), run_(std::move(run)) {}

  const Clock& clock() const override { return world_.clock(); }
  Duration monotonic() const override { return world_.monotonic(); }
  void post(Task task) override {
    const Time now = clock().now();
    due_ = std::max(due_, now + lateness_());
    Task late = [run = run_, task = std::move(task)]() mutable { run(task); };
    if (due_ == now) return world_.post(std::move(late));
    world_.after(due_ - now, std::move(late));
  }
  TimerId after(Duration delay, Task task) override { return world_.after(delay, std::move(task)); }
  void cancel(TimerId timer) override { world_.cancel(timer); }
  void watch_readable(int fd, std::function<void()> ready) override {
    world_.watch_readable(fd, std::move(ready));
  }
  void unwatch(int fd) override { world_.unwatch(fd); }
  void run() override { MUSTER_ASSERT(false, "the world's loop is run"); }
  void stop() override {}

 private:
  Loop& world_;
  const std::function<Duration()> lateness_;
  const std::function<void(Task&)> run_;
  Time due_{};
};

class FaultyTransport final : public client::Transport {
 public:
  FaultyTransport(client::Transport& inner, FaultState& state, store::Store* store)
      : inner_(inner), state_(state), stale_revision_(state.stale_revision) {
    if (store != nullptr) open_feed(*store);
    if (!stale_revision_) return;
    loop().after(kStaleFor, [this, dead = dead_] {
      if (!*dead) catch_up();
    });
  }
  ~FaultyTransport() override { *dead_ = true; }

  Loop& loop() override { return inner_.loop(); }
  client::Feed* feed() override { return feed_.get(); }

  void send(http::Request request, Done done) override {
    if (*dead_) return;
    Done guarded = [dead = dead_, done = std::move(done)](Result<client::Answer> answer) mutable {
      if (!*dead) done(std::move(answer));
    };
    if (is_write(request) && !is_event(request)) {
      return send_write(std::move(request), std::move(guarded));
    }
    if (stale_revision_ && is_list(request)) {
      request.target += fmt::format("{}resourceVersion={}&resourceVersionMatch=Exact",
                                    request.target.contains('?') ? '&' : '?', *stale_revision_);
    }
    inner_.send(std::move(request), std::move(guarded));
  }

  std::unique_ptr<Stream> stream(http::Request request, StreamEvents events) override;

 private:
  class CutStream;

  // A feed is never older than the store was when its process began.
  void open_feed(store::Store& store) {
    stale_revision_.reset();
    late_loop_ = std::make_unique<LateLoop>(
        loop(), [this] { return random_up_to(state_.rates.watch_delay); },
        [this, dead = dead_](Task& task) {
          if (*dead) return;
          task();
          if (!*dead && state_.rng.chance(state_.rates.cut)) feed_->begin_again();
        });
    feed_ = std::make_unique<client::Feed>(store, *late_loop_);
  }

  // All kinds at once, as from a replica of the server that was behind: no list is older than
  // another, and nothing is planned in between.
  void catch_up() {
    stale_revision_.reset();
    for (Task& each : std::exchange(held_back_, {})) each();
  }

  void send_write(http::Request request, Done done) {
    const bool counts = !is_lease(request);
    if (counts) {
      ++state_.writes;
      state_.on_write(request.method + " " + request.target);
      state_.revision_before.push_back(state_.revision_now());
    }
    const FaultRates& rates = state_.rates;
    Rng& rng = state_.rng;
    bool dies = counts && rng.chance(rates.crash), after = dies && rng.chance(0.5);
    if (counts && state_.crash_point && state_.crash_point->write == state_.writes) {
      dies = true;
      after = state_.crash_point->after;
    }
    if (dies && !after) return die();
    if (rng.chance(rates.refused)) {
      return answer_later(std::move(done), refusal(503, "ServiceUnavailable", "try again"));
    }
    if (rng.chance(rates.conflict)) {
      return answer_later(std::move(done), refusal(409, "Conflict", "somebody was faster"));
    }
    if (rng.chance(rates.lost_answer)) {
      done = [done = std::move(done)](Result<client::Answer>) mutable {
        done(fail(Code::kUnavailable, "connection reset"));
      };
    }
    const Duration delay = random_up_to(rates.write_delay);
    if (delay == Duration::zero()) {
      inner_.send(std::move(request), std::move(done));
      if (dies) die();
      return;
    }
    // Even if its sender dies meanwhile: what is on the wire arrives.
    loop().after(delay,
                 [&inner = inner_, request = std::move(request), done = std::move(done)]() mutable {
                   inner.send(std::move(request), std::move(done));
                 });
    if (dies) die();
  }

  void answer_later(Done done, client::Answer answer) {
    loop().post([done = std::move(done), answer = std::move(answer)]() mutable {
      done(std::move(answer));
    });
  }

  void die() {
    if (std::exchange(*dead_, true)) return;
    if (state_.crash_point && state_.crash_point->stale_cache) {
      const std::size_t back = std::min(kStaleWrites, state_.revision_before.size());
      state_.stale_revision = state_.revision_before[state_.revision_before.size() - back];
    }
    loop().post([&state = state_] { state.on_death(); });
  }

  Duration random_up_to(Duration bound) {
    if (bound <= Duration::zero()) return {};
    return Duration(
        static_cast<Duration::rep>(state_.rng.below(static_cast<std::uint64_t>(bound.count()))));
  }

  client::Transport& inner_;
  FaultState& state_;
  std::optional<std::uint64_t> stale_revision_;  // until it has caught up
  std::vector<Task> held_back_;                  // what watches tell until then
  std::shared_ptr<bool> dead_ = std::make_shared<bool>(false);
  std::unique_ptr<LateLoop> late_loop_;
  std::unique_ptr<client::Feed> feed_;
};

// Passes pieces on late, in their order, and breaks now and then.
class FaultyTransport::CutStream final : public Stream,
                                         public std::enable_shared_from_this<CutStream> {
 public:
  CutStream(FaultyTransport& transport, StreamEvents events)
      : transport_(transport), dead_(transport.dead_), events_(std::move(events)) {}

  StreamEvents heard() {
    const auto weak = weak_from_this();
    const auto pass = [weak](auto act) {
      if (const auto self = weak.lock()) self->later(std::move(act));
    };
    return {
        .head = [pass](int status) { pass([status](CutStream& s) { s.events_.head(status); }); },
        .data =
            [pass](std::string_view data) {
              pass([text = std::string(data)](CutStream& s) { s.pass_data(text); });
            },
        .end =
            [pass](Status why) { pass([why = std::move(why)](CutStream& s) { s.finish(why); }); }};
  }
  std::unique_ptr<Stream> inner;
  bool refused = false;

 private:
  void later(std::move_only_function<void(CutStream&)> act) {
    if (*dead_) return;
    Duration delay = transport_.random_up_to(transport_.state_.rates.watch_delay);
    Loop& loop = transport_.loop();
    due_ = std::max(due_, loop.clock().now() + delay);
    auto run = [weak = weak_from_this(), act = std::move(act)]() mutable {
      const auto self = weak.lock();
      if (self && !self->ended_ && !*self->dead_) act(*self);
    };
    if (transport_.stale_revision_ && !refused)
      return transport_.held_back_.push_back(std::move(run));
    if (due_ == loop.clock().now()) return loop.post(std::move(run));
    loop.after(due_ - loop.clock().now(), std::move(run));
  }

  void pass_data(const std::string& text) {
    events_.data(text);
    if (!ended_ && transport_.state_.rng.chance(transport_.state_.rates.cut)) {
      finish(fail(Code::kUnavailable, "connection reset"));
    }
  }

  void finish(Status why) {
    ended_ = true;
    inner = nullptr;
    events_.end(std::move(why));
  }

  FaultyTransport& transport_;
  std::shared_ptr<bool> dead_;
  StreamEvents events_;
  Time due_{};
  bool ended_ = false;
};

std::unique_ptr<client::Transport::Stream> FaultyTransport::stream(http::Request request,
                                                                   StreamEvents events) {
  // Handed out in place of the stream itself, which timers may outlive.
  class Handle final : public Stream {
   public:
    explicit Handle(std::shared_ptr<CutStream> held) : held_(std::move(held)) {}

   private:
    std::shared_ptr<CutStream> held_;
  };
  auto cut = std::make_shared<CutStream>(*this, std::move(events));
  if (!*dead_) {
    if (stale_revision_ && request.target.contains("sendInitialEvents=true")) {
      // A streaming list shows the newest state: make the informer list instead.
      cut->refused = true;
      const StreamEvents heard = cut->heard();
      heard.head(400);
      heard.end({});
      return std::make_unique<Handle>(std::move(cut));
    }
    if (const auto at = request.target.find("&resourceVersion=");
        at != std::string::npos && state_.rng.chance(state_.rates.repeat)) {
      const auto begin = at + std::string_view("&resourceVersion=").size();
      const auto end = request.target.find('&', begin);
      const std::uint64_t from = std::stoull(request.target.substr(begin, end - begin));
      request.target.replace(
          begin, end - begin,
          std::to_string(from > kRepeatedRevisions ? from - kRepeatedRevisions : from));
    }
    cut->inner = inner_.stream(std::move(request), cut->heard());
  }
  return std::make_unique<Handle>(std::move(cut));
}

}  // namespace

FaultRates FaultRates::rough() {
  return {.crash = 0.01,
          .lost_answer = 0.03,
          .refused = 0.03,
          .conflict = 0.03,
          .cut = 0.02,
          .repeat = 0.5,
          .write_delay = std::chrono::milliseconds(20),
          .watch_delay = std::chrono::milliseconds(200)};
}

std::unique_ptr<client::Transport> make_faulty_transport(client::Transport& inner,
                                                         FaultState& state, store::Store* store) {
  return std::make_unique<FaultyTransport>(inner, state, store);
}

}  // namespace muster::sim
