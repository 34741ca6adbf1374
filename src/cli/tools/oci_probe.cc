#include "cli/tools/oci_probe.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

namespace muster::cli {
namespace {

constexpr Duration kPatience = std::chrono::seconds(10);

// The machine's /usr is a root file system of sorts: it has a /bin and a /lib of its own.
runtime::RunSpec harmless_run(const std::string& program, const std::string& directory) {
  runtime::RunSpec run;
  run.container = "probe";
  run.argv = {"/bin/true"};
  run.working_directory = "/";
  run.rootfs = "/usr";
  run.oci_program = program;
  run.log_file = directory + "/probe.log";
  return run;
}

Status outcome(const std::optional<Result<runtime::Exit>>& end) {
  if (!end) return fail(Code::kTimeout, "a container did not end in time");
  if (!*end) return std::unexpected(end->error());
  const runtime::Exit& exit = **end;
  if (!exit.start_error.empty()) return fail(Code::kInternal, exit.start_error);
  if (exit.code != 0)
    return fail(Code::kInternal, fmt::format("a container ended with {}", exit.code));
  return {};
}

}  // namespace

Status probe_oci(Loop& loop, runtime::Runtime& runtime, const std::string& program,
                 const std::string& directory) {
  std::optional<Result<runtime::Exit>> end;
  const auto finish = [&](Result<runtime::Exit> how) {
    end = std::move(how);
    loop.stop();
  };
  const auto stop_unless_well = [&](const Status& status) {
    if (!status) finish(std::unexpected(status.error()));
  };
  runtime.on_change([&](const runtime::RunState& state) {
    if (state.exit) finish(*state.exit);
  });
  const std::string uid = "probe-" + std::filesystem::path(program).filename().string();
  runtime.start_pod({.uid = uid, .name = uid}, [&](const Status& made) {
    stop_unless_well(made);
    if (made) runtime.start(uid, harmless_run(program, directory), stop_unless_well);
  });
  const TimerId timer = loop.after(kPatience, [&] { loop.stop(); });
  loop.run();
  loop.cancel(timer);
  runtime.on_change([](const runtime::RunState&) {});
  return outcome(end);
}

}  // namespace muster::cli
