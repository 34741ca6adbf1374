// Our client library against any API server: `client_check KUBECONFIG`. Each check is a sentence;
// the last line counts them.
#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "base/rng.h"
#include "client/https.h"
#include "client/informer.h"
#include "client/leader_election.h"

namespace {

using namespace muster;
using namespace muster::client;

constexpr Duration kPatience = std::chrono::seconds(20);

class Check {
 public:
  explicit Check(ServerConfig config)
      : transport_(*make_https_transport(*loop_, std::move(config))) {
    Rng rng = Rng::from_system();
    ns_ = "client-check-" + make_name_suffix(rng);
  }

  int run() {
    expect("a namespace is created",
           write({.resource = &kind("", "v1", "namespaces"), .body = named("v1", "Namespace", ns_)})
               .has_value());
    informer_stories();
    write_stories();
    election_story();
    write({.verb = Verb::kDelete, .resource = &kind("", "v1", "namespaces"), .name = ns_});
    fmt::print("{} passed, {} failed\n", passed_, failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  static const api::Resource& kind(const char* group, const char* version, const char* plural) {
    return *api::Registry::builtin().find(group, version, plural);
  }
  static std::string named(std::string_view api_version, std::string_view kind,
                           std::string_view name, std::string_view more = "") {
    return fmt::format(R"({{"apiVersion":"{}","kind":"{}","metadata":{{"name":"{}"}}{}}})",
                       api_version, kind, name, more);
  }
  static std::string config_map(std::string_view name, std::string_view value) {
    return named("v1", "ConfigMap", name, fmt::format(R"(,"data":{{"k":"{}"}})", value));
  }

  void expect(std::string_view what, bool holds) {
    fmt::print("{}: {}\n", holds ? "ok" : "FAILED", what);
    ++(holds ? passed_ : failed_);
  }
  // Runs the loop until the answer is there.
  Result<std::string> write(const Operation& operation) {
    Result<std::string> out = fail(Code::kTimeout, "no answer");
    client_.write(operation, [&](Result<std::string> answer) {
      out = std::move(answer);
      loop_->stop();
    });
    loop_->run();
    return out;
  }
  bool eventually(const std::function<bool()>& holds) {
    const Time end = loop_->clock().now() + kPatience;
    while (!holds() && loop_->clock().now() < end) {
      loop_->after(std::chrono::milliseconds(10), [this] { loop_->stop(); });
      loop_->run();
    }
    return holds();
  }
  Operation on_map(Verb verb, std::string name, std::string body,
                   PatchType type = PatchType::kMerge) const {
    return {.verb = verb,
            .resource = &kind("", "v1", "configmaps"),
            .ns = ns_,
            .name = std::move(name),
            .body = std::move(body),
            .patch_type = type};
  }

  void informer_stories() {
    Informer informer(client_, kind("", "v1", "configmaps"), {.ns = ns_});
    int added = 0, changed = 0, removed = 0;
    informer.on_change([&](const ObjectPtr& before, const ObjectPtr& after) {
      ++(!before ? added : !after ? removed : changed);
    });
    write(on_map(Verb::kCreate, "early", config_map("early", "1")));
    informer.start();
    expect("an informer is synced with what was there",
           eventually([&] { return informer.synced() && informer.find(ns_, "early"); }));
    for (int i = 0; i < 20; ++i)
      write(on_map(Verb::kCreate, "", config_map(fmt::format("m{}", i), "1")));
    expect("it sees every object that is created",
           eventually([&] { return informer.find(ns_, "m19") != nullptr; }) && added >= 21);
    write(on_map(Verb::kPatch, "m0", R"({"data":{"k":"2"}})"));
    expect("it sees a change", eventually([&] { return changed == 1; }));
    write(on_map(Verb::kDelete, "m1", ""));
    expect("it sees a deletion",
           eventually([&] { return removed == 1; }) && !informer.find(ns_, "m1"));
  }

  void write_stories() {
    expect("an object exists once",
           code(write(on_map(Verb::kCreate, "", config_map("m2", "1")))) == Code::kAlreadyExists);
    expect("what is not there is not found",
           code(write(on_map(Verb::kDelete, "nothing", ""))) == Code::kNotFound);
    expect("a JSON patch changes a field",
           write(on_map(Verb::kPatch, "m2", R"([{"op":"replace","path":"/data/k","value":"3"}])",
                        PatchType::kJson))
                   .value_or("")
                   .find(R"("k":"3")") != std::string::npos);
    std::string stale = config_map("m2", "4");
    stale.insert(stale.find(R"("name")"), R"("resourceVersion":"1",)");
    expect("a stale update is a conflict",
           code(write(on_map(Verb::kUpdate, "m2", stale))) == Code::kConflict);
    const auto applied =
        write(on_map(Verb::kPatch, "m2", config_map("m2", "5"), PatchType::kApply));
    expect("applying another's field is a conflict that names it",
           code(applied) == Code::kConflict && !applied.error().causes.empty() &&
               applied.error().causes[0].field == ".data.k");
    Operation forced = on_map(Verb::kPatch, "m2", config_map("m2", "5"), PatchType::kApply);
    forced.force = true;
    expect("by force it is taken", write(forced).has_value());
    expect("an invalid object lists its faults", [&] {
      const auto refused = write(on_map(Verb::kCreate, "", config_map("Bad_Name", "1")));
      return code(refused) == Code::kInvalid && refused.error().causes.size() == 1;
    }());
  }

  void election_story() {
    const LeaderOptions options{.ns = ns_,
                                .name = "lead",
                                .lease = std::chrono::seconds(6),
                                .renew = std::chrono::seconds(4),
                                .retry = std::chrono::milliseconds(300)};
    LeaderOptions first = options, second = options;
    first.identity = "first";
    second.identity = "second";
    LeaderElection a(client_, api::Registry::builtin(), first, [] {}, [] {});
    LeaderElection b(client_, api::Registry::builtin(), second, [] {}, [] {});
    a.start();
    expect("the first candidate leads", eventually([&] { return a.leading(); }));
    b.start();
    a.release([] {});
    expect("when it lets go, the second does",
           eventually([&] { return b.leading(); }) && !a.leading());
  }

  static Code code(const Result<std::string>& result) {
    return result ? Code::kInternal : result.error().code;
  }

  std::unique_ptr<Loop> loop_ = make_real_loop();
  std::unique_ptr<Transport> transport_;
  Client client_{*transport_, "client-check"};
  std::string ns_;
  int passed_ = 0, failed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: client_check KUBECONFIG\n");
    return 64;
  }
  auto config = load_kubeconfig(argv[1]);
  if (!config) {
    fmt::print(stderr, "error: {}\n", config.error().message);
    return 1;
  }
  return Check(*std::move(config)).run();
}
