package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
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
	Metadata struct {
		Name              string            `json:"name"`
		Labels            map[string]string `json:"labels"`
		DeletionTimestamp string            `json:"deletionTimestamp"`
	} `json:"metadata"`
	Status struct {
		TerminalState string `json:"terminalState"`
	} `json:"status"`
}

func (o object) exists() bool    { return o.Metadata.DeletionTimestamp == "" }
func (o object) restarted() bool { return o.exists() && o.Metadata.Labels[attempt] == "1" }
func (o object) completed() bool { return o.Status.TerminalState == "Completed" }

type event struct {
	Type   string `json:"type"`
	Object object `json:"object"`
}

func decodeEvent(line []byte) (e event) {
	check(json.Unmarshal(line, &e))
	if e.Type == "ERROR" {
		check(fmt.Errorf("watch: %s", line))
	}
	return e
}
