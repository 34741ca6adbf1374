// Jobset measures a JobSet controller: it makes JobSets, watches the Jobs appear and plays the Job controller by writing their
// statuses. run.sh drives it.
//
//	jobset many -sets N     N JobSets of 2 × 2 Jobs: until all Jobs exist, until all JobSets are Completed
//	jobset one  -jobs N     one JobSet of N Jobs: until all exist, until all exist again after one has failed
//	    -kubeconfig F -controller PID -stack PID[,PID...]   the server, the controller and all processes that together do the work
//	jobset requests AUDIT_LOG AGENT NAME JOBS               what a controller asked of the API server, per Job
//	jobset table GO MUSTER EMBEDDED                         the results side by side
//
// A result is a line: name, tab, number.
package main

import (
	"flag"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"muster.test/reliability/harness"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: jobset many|one|requests|table ...")
	}
	arguments := os.Args[2:]
	switch os.Args[1] {
	case "many", "one":
		measure(os.Args[1], arguments)
	case "requests":
		jobs, err := strconv.Atoi(arguments[3])
		check(err)
		countRequests(arguments[0], arguments[1], arguments[2], jobs)
	case "table":
		table(arguments[0], arguments[1], arguments[2])
	default:
		log.Fatal("unknown command ", os.Args[1])
	}
}

func measure(workload string, arguments []string) {
	flags := flag.NewFlagSet(workload, flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "the server and the credentials")
	controller := flags.String("controller", "", "the controller's process")
	stack := flags.String("stack", "", "all processes that together do the work")
	sets := flags.Int("sets", 500, "JobSets")
	jobs := flags.Int("jobs", 1000, "Jobs of the one JobSet")
	flags.Parse(arguments)
	harness.Timeout = patience
	target, err := harness.FromKubeconfig(*kubeconfig)
	check(err)
	b := &bench{target: target, controller: pids(*controller), stack: pids(*stack)}
	if workload == "many" {
		b.measureMany(*sets)
	} else {
		b.measureOne(*jobs)
	}
}

func pids(list string) (all []int) {
	for _, text := range strings.Split(list, ",") {
		pid, err := strconv.Atoi(text)
		check(err)
		all = append(all, pid)
	}
	return all
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

const (
	patience = 20 * time.Minute // with one step
	settle   = 3 * time.Second  // for what a controller still does after the last Job: events, late passes
)
