#include "runtime/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/errno_error.h"
#include "json/parse.h"
#include "json/write.h"
#include "runtime/read_file.h"
#include "runtime/records.h"

namespace muster::runtime {
namespace {

constexpr std::string_view kSuffix = ".journal";

void take_line(PodRecord& record, const std::string& pod_uid, std::string_view line) {
  json::Arena arena;
  const auto value = json::parse(arena, line);
  if (!value) return;
  if (const json::Value* pod = value->find("pod")) record.pod = pod_spec_from(*pod);
  if (const json::Value* shim = value->find("shim")) record.shim = identity_from(*shim);
  if (const json::Value* run = value->find("run")) {
    RecordedRun recorded{run_state_from(*run, pod_uid), identity_from(run->get("process"))};
    const RunId id = recorded.state.id;
    record.runs.insert_or_assign(id, std::move(recorded));
  }
}

}  // namespace

std::string journal_file(const std::string& folder, const std::string& uid) {
  return fmt::format("{}/{}{}", folder, uid, kSuffix);
}

Result<Journal> Journal::open(const std::string& folder, const std::string& uid) {
  const std::string path = journal_file(folder, uid);
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) {
    return errno_error(path);
  }
  Journal journal(std::move(file));
  // Ends a line that a crash has cut short.
  if (lseek(journal.file_.get(), 0, SEEK_END) > 0) MUSTER_CHECK(journal.append("\n"));
  return journal;
}

Status Journal::append(std::string line) {
  const ssize_t written = write(file_.get(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return {};
  if (written > 0) errno = ENOSPC;
  return errno_error("cannot record");
}

Status Journal::add(const PodSpec& pod) {
  json::Arena arena;
  const json::Value line = json::Value::object(arena);
  line.set("pod", to_json(arena, pod));
  return append(json::write(line) + "\n");
}

Status Journal::add(const ProcessIdentity& shim) {
  json::Arena arena;
  const json::Value line = json::Value::object(arena);
  line.set("shim", to_json(arena, shim));
  return append(json::write(line) + "\n");
}

Status Journal::add(const RecordedRun& run) {
  json::Arena arena;
  const json::Value line = json::Value::object(arena);
  const json::Value state = to_json(arena, run.state);
  if (run.process.pid != 0) state.set("process", to_json(arena, run.process));
  line.set("run", state);
  return append(json::write(line) + "\n");
}

PodRecord read_journal(const std::string& folder, const std::string& uid) {
  const std::string text = read_file(journal_file(folder, uid));
  PodRecord record;
  std::string_view rest = text;
  for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;) {
    if (end > 0) take_line(record, uid, rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return record;
}

std::vector<std::string> journals_in(const std::string& folder) {
  std::vector<std::string> uids;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == kSuffix) uids.push_back(entry->path().stem().string());
  }
  return uids;
}

void remove_journal(const std::string& folder, const std::string& uid) {
  unlink(journal_file(folder, uid).c_str());
}

}  // namespace muster::runtime
