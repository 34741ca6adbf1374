// What a pod's shim has written down, in <pod directory>/runtime/journal: one JSON document per
// line, appended, the last one about a thing counts. A line that is cut short was never written.
//
//   {"shim":{"pid":812,"startTicks":90211,"bootId":"…"}}
//   {"run":{"container":"main","number":0,"containerId":"…","phase":0}}            before the fork
//   {"run":{… "process":{"pid":815,…}}}                                            after it
//   {"run":{… "phase":1,"started":1763225100123456}}                               executed
//   {"run":{… "phase":2,"exit":{"code":0,"finished":1763225101000000}}}            all are gone
#pragma once

#include <map>
#include <string>

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
  ProcessIdentity shim;
  std::map<RunId, RecordedRun> runs;
};

class Journal {
 public:
  // Makes the folder and the file if they are not there.
  static Result<Journal> open(const PodSpec& pod);
  Status add(const ProcessIdentity& shim);
  Status add(const RecordedRun& run);

 private:
  explicit Journal(UniqueFd file) : file_(std::move(file)) {}
  Status append(std::string line);
  UniqueFd file_;
};

PodRecord read_journal(const PodSpec& pod);  // empty if there is none
void remove_journal(const PodSpec& pod);

}  // namespace muster::runtime
