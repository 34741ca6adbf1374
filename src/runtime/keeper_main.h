// The process that keeps the pods of a runtime directory: `muster keeper DIR`. Not for people: it
// is started by make_process_runtime and ends by itself when there is no pod and no agent.
#pragma once

namespace muster::runtime {

// argv[1] is the directory; `--plain` after it asks for no namespaces. Standard output tells the
// one who started it how that went: nothing if all is well, else why not. Also for the main() of
// tests that use the process runtime: see RuntimeOptions::keeper_argv.
int keeper_main(int argc, char** argv);

}  // namespace muster::runtime
