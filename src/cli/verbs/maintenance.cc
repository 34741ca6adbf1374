// `muster check`, `backup`, `restore`, `version`: what one does with a data directory besides
// serving it.
#include <fmt/format.h>

#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "store/data_directory.h"
#include "store/durability.h"
#include "store/object_text.h"
#include "store/sqlite_backup.h"

namespace muster::cli {
namespace {

int check(const std::string& data_dir) {
  const auto faults = store::check_sqlite(data_dir, {.rule = store::fault_in_text});
  if (!faults) return complain(faults.error(), kRefused);
  for (const auto& fault : *faults) fmt::print("{}\n", fault);
  if (!faults->empty()) return kRefused;
  fmt::print("{}: sound\n", data_dir);
  return kSucceeded;
}

int backup(const std::string& data_dir, const std::string& file) {
  const auto lost = store::find_lost_changes(data_dir);
  if (!lost) return complain(lost.error(), kRefused);
  if (const auto saved = store::backup_database(store::database_file(data_dir), "", file); !saved)
    return complain(saved.error(), kRefused);
  if (!lost->empty()) {
    const std::string what = fmt::format("{} holds only what can be read: {}", file, *lost);
    return complain({.code = Code::kInternal, .message = what}, kRefused);
  }
  fmt::print("{} holds all of {}\n", file, data_dir);
  return kSucceeded;
}

int restore(const std::string& file, const std::string& data_dir) {
  if (const auto restored = store::restore_sqlite(file, data_dir); !restored)
    return complain(restored.error(), kRefused);
  fmt::print("{} holds what {} held\n", data_dir, file);
  return kSucceeded;
}

int version() {
  fmt::print("muster {} (Kubernetes API 1.36)\n", MUSTER_VERSION);
  return kSucceeded;
}

struct Paths {
  std::string data_dir;
  std::string file;
};

}  // namespace

Verb check_verb() {
  const auto o = std::make_shared<Paths>();
  return {.name = "check",
          .group = "Operate",
          .help = "Verify a data directory",
          .flags = {{"dir", &o->data_dir, "The data directory", {}, true}},
          .run = [o] { return check(o->data_dir); }};
}

Verb backup_verb() {
  const auto o = std::make_shared<Paths>();
  return {.name = "backup",
          .group = "Operate",
          .help = "Copy a data directory's objects to one file, also while it is served",
          .flags = {{"dir", &o->data_dir, "The data directory", {}, true},
                    {"file", &o->file, "The copy", {}, true}},
          .run = [o] { return backup(o->data_dir, o->file); }};
}

Verb restore_verb() {
  const auto o = std::make_shared<Paths>();
  return {.name = "restore",
          .group = "Operate",
          .help = "Make a data directory from a backup",
          .flags = {{"file", &o->file, "The copy", {}, true},
                    {"dir", &o->data_dir, "The data directory", {}, true}},
          .run = [o] { return restore(o->file, o->data_dir); }};
}

Verb version_verb() {
  return {.name = "version",
          .group = "Operate",
          .help = "Print the version",
          .flags = {},
          .run = version};
}

}  // namespace muster::cli
