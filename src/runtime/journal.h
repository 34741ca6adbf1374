// What is written down about a pod, in <runtime directory>/pods/<uid>.journal: one JSON document
// per line, appended, the last one about a thing counts. A line that is cut short was never
// written.
//
//   {"pod":{"uid":"…","name":"…","hostname":"…","hostsFile":"…","processes":0}}    by the keeper
//   {"shim":{"pid":812,"startTicks":90211,"bootId":"…"}}                           by the shim
//   {"run":{"container":"main","number":0,"containerId":"…","phase":0}}            before the fork
//   {"run":{… "process":{"pid":815,…}}}                                            after it
//   {"run":{… "phase":1,"started":1763225100123456}}                               executed
//   {"run":{… "phase":2,"exit":{"code":0,"finished":1763225101000000}}}            all are gone
//
// Not synced to the disk: it is for processes, and after a power failure there are none. On a full
// disk the first lines fail, and nothing is started; the later ones of an ordinary pod fit into the
// block that these have taken.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runtime/process_identity.h"
#include "runtime/runtime.h"

namespace muster::runtime {

struct RecordedRun {
  RunState state;
  ProcessIdentity process;  // the run's init, whose end is the end of all; pid 0: none yet
};

struct PodRecord {
  PodSpec pod;  // without a uid if there is no record of it
  ProcessIdentity shim;
  std::map<RunId, RecordedRun> runs;
};

class Journal {
 public:
  static Result<Journal> open(const std::string& folder, const std::string& uid);
  Status add(const PodSpec& pod);
  Status add(const ProcessIdentity& shim);
  Status add(const RecordedRun& run);
  int fd() const { return file_.get(); }

 private:
  explicit Journal(UniqueFd file) : file_(std::move(file)) {}
  Status append(std::string line);
  UniqueFd file_;
};

std::string journal_file(const std::string& folder, const std::string& uid);
PodRecord read_journal(const std::string& folder, const std::string& uid);
std::vector<std::string> journals_in(const std::string& folder);  // uids
void remove_journal(const std::string& folder, const std::string& uid);

}  // namespace muster::runtime
