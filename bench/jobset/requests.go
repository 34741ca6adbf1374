package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"muster.test/reliability/harness"
)

// audited is what counts of a line of the audit log.
type audited struct {
	Verb      string `json:"verb"`
	UserAgent string `json:"userAgent"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// What controllers write because of JobSets; discovery, leases and the like are left out.
var counted = []string{"jobsets", "jobs", "services", "events", "pods"}

// countRequests reports what the clients whose name begins with `agent` asked for, and how much of it was in vain.
func countRequests(path, agent, name string, jobs int) {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	total, wasted := 0, 0
	kinds := map[string]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var a audited
		check(json.Unmarshal(lines.Bytes(), &a))
		if !strings.HasPrefix(a.UserAgent, agent) || a.Verb == "list" || a.Verb == "watch" || !slices.Contains(counted, a.ObjectRef.Resource) {
			continue
		}
		total++
		kinds[kindOf(a)]++
		if a.ResponseStatus.Code >= http.StatusBadRequest {
			wasted++
		}
	}
	check(lines.Err())
	harness.Report(name+"/requests", float64(total)/float64(jobs))
	harness.Report(name+"/wasted", float64(wasted)/float64(jobs))
	for _, kind := range sorted(kinds) {
		fmt.Printf("%s/requests of %s\t%d\n", name, kind, kinds[kind])
	}
}

func kindOf(a audited) string {
	what := a.ObjectRef.Resource
	if a.ObjectRef.Subresource != "" {
		what += "/" + a.ObjectRef.Subresource
	}
	if a.ResponseStatus.Code >= http.StatusBadRequest {
		return fmt.Sprintf("%s %s: %d", a.Verb, what, a.ResponseStatus.Code)
	}
	return a.Verb + " " + what
}

func sorted(counts map[string]int) (names []string) {
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
