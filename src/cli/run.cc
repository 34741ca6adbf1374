// `muster run FILE`: apply it to a private engine, follow the logs, end with the outcome.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>

#include "cli/commands.h"
#include "cli/controller_list.h"
#include "cli/data_dir.h"
#include "cli/diagnose.h"
#include "cli/engine.h"
#include "cli/exit_code.h"
#include "cli/log_lines.h"
#include "cli/print.h"
#include "cli/signals.h"
#include "client/informer.h"
#include "json/parse.h"
#include "json/write.h"
#include "json/yaml.h"

namespace muster::cli {
namespace {

using json::Value;

// A directory of our own, gone when the run is over.
class PrivateDirectory {
 public:
  PrivateDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster-run-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~PrivateDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  PrivateDirectory(const PrivateDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Result<std::string> read_input(const std::string& file) {
  if (file != "-") return read_file(file);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

// Of the created object: the file may have given a prefix only.
std::string name_in(std::string_view object) {
  json::Arena arena;
  const auto tree = json::parse(arena, object);
  return tree ? std::string(tree->get({"metadata", "name"}).as_string()) : "";
}

// One run: from the first create to the JobSet's end.
class Run {
 public:
  Run(Loop& loop, client::Transport& transport, std::string ns, std::string kubeconfig)
      : loop_(loop),
        client_(transport, "muster-run"),
        ns_(std::move(ns)),
        kubeconfig_(std::move(kubeconfig)) {}

  // The text outlives the run.
  Status begin(const std::string& file, std::string_view text) {
    file_ = file;
    text_ = text;
    MUSTER_TRY(documents_, json::parse_yaml(arena_, text));
    for (const auto& document : documents_) MUSTER_CHECK(add(document.root));
    if (!has_job_set_) return fail(Code::kInvalid, "there is no JobSet in the file");
    create_next();
    return {};
  }
  int exit_code() const { return exit_code_; }

 private:
  Status add(Value object) {
    const std::string_view api_version = object.get("apiVersion").as_string(),
                           kind = object.get("kind").as_string();
    const api::Resource* resource = api::Registry::builtin().find_kind(api_version, kind);
    if (resource == nullptr)
      return fail(Code::kInvalid,
                  fmt::format("there is no kind \"{}\" in \"{}\"", kind, api_version));
    const std::string_view named = object.get({"metadata", "namespace"}).as_string();
    const std::string ns = !resource->namespaced ? "" : named.empty() ? ns_ : std::string(named);
    const std::string name(object.get({"metadata", "name"}).as_string());
    if (kind == "JobSet") {
      if (has_job_set_)
        return fail(Code::kInvalid, "there are two JobSets in the file; run takes one");
      has_job_set_ = true;
      ns_ = ns;
    }
    creates_.push_back({.verb = client::Verb::kCreate,
                        .resource = resource,
                        .ns = ns,
                        .name = name,
                        .body = json::write(object),
                        .strict = true});
    return {};
  }

  void create_next() {
    if (created_ == creates_.size()) return follow();
    client_.write(creates_[created_], [this](Result<std::string> answer) {
      if (!answer) return refused(answer.error());
      if (creates_[created_].resource->gvk.kind == "JobSet") job_set_ = name_in(*answer);
      ++created_;
      create_next();
    });
  }

  void refused(const Error& error) {
    fmt::print(stderr, "{}",
               explain(error, {.file = file_,
                               .text = text_,
                               .document = &documents_[created_],
                               .resource = creates_[created_].resource}));
    end(kRefused);
  }

  void follow() {
    fmt::print(stderr, "watch it: KUBECONFIG={} kubectl get jobsets,jobs,pods\n", kubeconfig_);
    const api::Registry& registry = api::Registry::builtin();
    pods_ = std::make_unique<client::Informer>(
        client_, *registry.find("", "v1", "pods"),
        client::ListOptions{.ns = ns_,
                            .label_selector = "jobset.sigs.k8s.io/jobset-name=" + job_set_});
    pods_->on_change([this](const auto&, const auto& after) {
      if (after) follow_logs(*after);
    });
    sets_ = std::make_unique<client::Informer>(
        client_, *registry.find("jobset.x-k8s.io", "v1alpha2", "jobsets"),
        client::ListOptions{.ns = ns_, .field_selector = "metadata.name=" + job_set_});
    sets_->on_change([this](const auto&, const auto& after) { job_set_changed(after); });
    pods_->start();
    sets_->start();
  }

  // Every container of the pod that has been started and is not followed yet.
  void follow_logs(const store::Object& object) {
    json::Arena arena;
    const Value pod = *json::parse(arena, object.bytes());
    for (const std::string_view part : {"initContainerStatuses", "containerStatuses"}) {
      const Value statuses = pod.get({"status", part});
      for (const Value status : statuses.items()) {
        const bool waiting = status.get({"state", "waiting"}).is_object();
        const std::string container(status.get("name").as_string());
        const std::string key = object.meta().name + "/" + container;
        if (waiting || logs_.contains(key)) continue;
        const std::string message(status.get({"state", "terminated", "message"}).as_string());
        if (status.get({"state", "terminated", "reason"}).as_string() == "StartError") {
          fmt::print(stderr, "error: {}: {}\n", object.meta().name, message);
          logs_[key];  // told once
          continue;
        }
        follow_log(key, object.meta(), container, statuses.size() > 1);
      }
    }
  }

  void follow_log(const std::string& key, const api::Meta& pod, const std::string& container,
                  bool several) {
    const auto lines =
        std::make_shared<LogLines>(log_prefix(job_set_, pod.name, several ? container : ""));
    const auto status = std::make_shared<int>(0);
    ++open_logs_;
    logs_[key] = client_.stream(client::url_path(pods_->resource(), ns_, pod.name, "log") +
                                    "?follow=true&container=" + container,
                                {.head = [status](int code) { *status = code; },
                                 .data =
                                     [lines, status](std::string_view data) {
                                       if (*status == 200) lines->take(data);
                                     },
                                 .end =
                                     [this, lines](Status) {
                                       lines->finish();
                                       --open_logs_;
                                       end_if_over();
                                     }});
  }

  void job_set_changed(const client::ObjectPtr& after) {
    if (!after)
      return end(complain(
          {.code = Code::kNotFound, .message = fmt::format("jobset \"{}\" was deleted", job_set_)},
          kCancelled));
    json::Arena arena;
    const Value set = *json::parse(arena, after->bytes());
    for (const Value condition : set.get({"status", "conditions"}).items()) {
      if (condition.get("status").as_string() != "True") continue;
      const std::string_view type = condition.get("type").as_string();
      if (type == "Completed" || type == "Failed")
        outcome_ = {type == "Completed", std::string(condition.get("message").as_string())};
    }
    end_if_over();
  }

  // The logs are part of the run: it ends after their last line.
  void end_if_over() {
    if (!outcome_ || open_logs_ > 0) return;
    const auto& [succeeded, message] = *outcome_;
    fmt::print(stderr, "jobset {}: {}\n", job_set_, message);
    end(succeeded ? kSucceeded : kJobSetFailed);
  }

  void end(int code) {
    exit_code_ = code;
    loop_.stop();
  }

  Loop& loop_;
  client::Client client_;
  std::string ns_;
  std::string kubeconfig_;
  bool has_job_set_ = false;
  std::string job_set_;  // its name, once it is created
  std::string file_;
  std::string_view text_;
  json::Arena arena_;
  std::vector<json::YamlDocument> documents_;  // one per entry of creates_
  std::vector<client::Operation> creates_;
  std::size_t created_ = 0;
  std::unique_ptr<client::Informer> pods_, sets_;
  std::map<std::string, std::unique_ptr<client::Transport::Stream>> logs_;  // by pod/container
  int open_logs_ = 0;
  std::optional<std::pair<bool, std::string>> outcome_;
  int exit_code_ = kRefused;
};

}  // namespace

int run(const RunOptions& options) {
  auto text = read_input(options.file);
  if (!text) return complain(text.error(), kRefused);
  Signals signals;
  std::optional<PrivateDirectory> own;
  if (options.data_dir.empty()) own.emplace();
  const std::string dir = own ? own->path() : options.data_dir;
  if (dir.empty())
    return complain({.code = Code::kUnavailable, .message = "cannot make a private directory"},
                    kRefused);
  auto engine = Engine::start({.data_dir = dir, .controllers = all_controllers()});
  if (!engine) return complain(engine.error(), kRefused);
  Loop& loop = (*engine)->loop();
  Run run(loop, (*engine)->transport(), options.ns, (*engine)->kubeconfig_file());
  if (const auto begun = run.begin(options.file, *text); !begun)
    return complain(begun.error(), kRefused);
  int signal = 0;
  signals.on_signal(loop, [&](int number) {
    signal = number;
    loop.stop();
  });
  loop.run();
  return signal != 0 ? kSignal + signal : run.exit_code();
}

}  // namespace muster::cli
