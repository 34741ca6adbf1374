package main

import (
	"fmt"
	"strings"
	"time"

	"muster.test/reliability/harness"
)

const (
	jobSetsPath = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
	jobsPath    = "/apis/batch/v1/namespaces/default/jobs"
	mergePatch  = "application/merge-patch+json"
	attempt     = "jobset.sigs.k8s.io/restart-attempt"
)

// jobSet has so many replicated jobs of so many Jobs each; one failure restarts all of them.
func jobSet(name string, replicatedJobs, replicas int) []byte {
	var parts []string
	for i := range replicatedJobs {
		parts = append(parts, fmt.Sprintf(`{"name":"r%d","replicas":%d,"template":{"spec":{"parallelism":1,"completions":1,"backoffLimit":0,`+
			`"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"worker","image":"registry.example.com/training/worker:1.2.3",`+
			`"command":["python3","-m","training.main"],"resources":{"requests":{"cpu":"1"}}}]}}}}}`, i, replicas))
	}
	return fmt.Appendf(nil, `{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":%q},`+
		`"spec":{"failurePolicy":{"maxRestarts":3},"replicatedJobs":[%s]}}`, name, strings.Join(parts, ","))
}

// completed is a Job's status as the Job controller leaves it.
func completed() []byte {
	now := time.Now().UTC().Format(time.RFC3339)
	return fmt.Appendf(nil, `{"status":{"startTime":%q,"completionTime":%q,"succeeded":1,"ready":0,"conditions":[%s,%s]}}`, now, now,
		condition("SuccessCriteriaMet", "CompletionsReached", now), condition("Complete", "CompletionsReached", now))
}

func failed() []byte {
	now := time.Now().UTC().Format(time.RFC3339)
	return fmt.Appendf(nil, `{"status":{"startTime":%q,"failed":1,"ready":0,"conditions":[%s,%s]}}`, now,
		condition("FailureTarget", "BackoffLimitExceeded", now), condition("Failed", "BackoffLimitExceeded", now))
}

func condition(kind, reason, now string) string {
	return fmt.Sprintf(`{"type":%q,"status":"True","reason":%q,"message":"the benchmark says so","lastProbeTime":%q,"lastTransitionTime":%q}`,
		kind, reason, now, now)
}

// object is what counts of a Job or JobSet.
type object struct {
	name, deletionTimestamp, attempt, terminalState string
}

func (o object) exists() bool    { return o.deletionTimestamp == "" }
func (o object) restarted() bool { return o.exists() && o.attempt == "1" }
func (o object) completed() bool { return o.terminalState == "Completed" }

type event struct {
	kind   string
	object object
}

// decodeEvent looks for the few fields and reads nothing else: the benchmark shares the processors with what it measures. No
// other field of these objects is written like one of them; those of managedFields begin with "f:".
func decodeEvent(line []byte) event {
	text := func(prefix string) string { return string(harness.Field(line, prefix)) }
	e := event{text(`{"type":"`), object{text(`"name":"`), text(`"deletionTimestamp":"`), text(`"` + attempt + `":"`), text(`"terminalState":"`)}}
	if e.kind == "ERROR" || e.object.name == "" {
		check(fmt.Errorf("watch: %s", line))
	}
	return e
}
