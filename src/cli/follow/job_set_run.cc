#include "cli/follow/job_set_run.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/terminal_text.h"
#include "cli/input/connection.h"
#include "cli/input/kinds.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::cli {
namespace {

EndingPlan ending_of(const RunPlan& plan) {
  return {.job_set = plan.follow.job_set,
          .server = plan.server,
          .stops_job_set = true,
          .is_server_private = plan.is_private,
          .can_detach = plan.can_detach};
}

}  // namespace

JobSetRun::JobSetRun(client::Transport& transport, RunPlan plan)
    : client_(transport, "muster-run"),
      plan_(std::move(plan)),
      session_(client_, ending_of(plan_), plan_.progress) {}

void JobSetRun::create_next() {
  if (created_ == plan_.manifest.objects().size()) return follow();
  const ManifestObject& object = plan_.manifest.objects()[created_];
  const bool is_for_a_namespace = plan_.is_private && !object.ns.empty();
  if (is_for_a_namespace && namespaces_.insert(object.ns).second) return make_namespace(object.ns);
  client_.write({.verb = client::Verb::kCreate,
                 .resource = object.resource,
                 .ns = object.ns,
                 .name = object.name,
                 .body = object.body,
                 .strict = true},
                [this](Result<std::string> answer) {
                  if (!answer) return refused(answer.error());
                  took(*answer);
                });
}

// Nobody else makes one on a server of our own.
void JobSetRun::make_namespace(const std::string& name) {
  json::Arena arena;
  const json::Value object = json::Value::object(arena);
  object.set("apiVersion", "v1");
  object.set("kind", "Namespace");
  object.object_at("metadata").set("name", name);
  client_.write({.verb = client::Verb::kCreate,
                 .resource = &namespaces(),
                 .ns = {},
                 .name = name,
                 .body = json::write(object)},
                [this](const Result<std::string>& answer) {
                  if (answer || answer.error().code == Code::kAlreadyExists) return create_next();
                  session_.refused(complain(answer.error()));
                });
}

void JobSetRun::took(std::string_view answer) {
  const ManifestObject& object = plan_.manifest.objects()[created_];
  if (object.resource == &job_sets()) {
    json::Arena arena;
    const auto tree = json::parse(arena, answer);
    // Of the created object: the file may have given a prefix only.
    if (tree) {
      plan_.follow.job_set = tree->get({"metadata", "name"}).as_string();
      plan_.follow.uid = tree->get({"metadata", "uid"}).as_string();
    }
    plan_.follow.ns = object.ns;
  }
  ++created_;
  create_next();
}

// What the JobSet needs may be there already; it itself may not.
void JobSetRun::refused(const Error& error) {
  const ManifestObject& object = plan_.manifest.objects()[created_];
  if (error.code == Code::kAlreadyExists && object.resource != &job_sets()) return apply(object);
  if (error.code != Code::kAlreadyExists) {
    return session_.refused(explain(object, error));
  }
  const std::string help =
      !plan_.make_room.empty()
          ? plan_.make_room
          : fmt::format(
                "muster attach {0}{1} follows the one that is there, muster delete jobset {0}{1} "
                "makes room",
                plain_text(object.name), plan_.server);
  fmt::print(stderr, "error: {}\n  help: {}\n", plain_text(error.message), help);
  session_.refused(kRefused);
}

int JobSetRun::explain(const ManifestObject& object, const Error& error) const {
  fmt::print(stderr, "{}", plan_.manifest.explain(object, error));
  return created_ == 0 ? say_nothing_stored(exit_code_of(error)) : exit_code_of(error);
}

void JobSetRun::apply(const ManifestObject& object) {
  client_.write({.verb = client::Verb::kPatch,
                 .resource = object.resource,
                 .ns = object.ns,
                 .name = object.name,
                 .body = object.body,
                 .patch_type = client::PatchType::kApply,
                 .force = true,
                 .strict = true},
                [this, &object](Result<std::string> answer) {
                  if (answer) return took(*answer);
                  session_.refused(explain(object, answer.error()));
                });
}

void JobSetRun::follow() {
  if (!plan_.watch.empty()) session_.note("watch it: " + plan_.watch);
  session_.follow(plan_.follow);
}

}  // namespace muster::cli
