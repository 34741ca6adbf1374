package main

import (
	"fmt"
	"slices"
	"strings"

	"muster.test/reliability/harness"
)

const mebi = 1.0 / (1 << 20)

// workload is one of those measured: its name in the results, its title, what it is called after the Jobs exist.
type workload struct {
	name, title, second, secondTitle string
	memoryGoal, timeGoal             float64 // at most so much of the peer's
	jobs                             int
}

func workloads(results map[string]float64) (found []workload) {
	if _, measured := results["many/exist/time"]; measured {
		found = append(found, workload{"many", "many JobSets", "complete", "all Completed", 1. / 4, 1, 0})
	}
	for name := range results {
		var jobs int
		if n, _ := fmt.Sscanf(name, "one/%d/exist/time", &jobs); n == 1 && strings.HasSuffix(name, "/exist/time") {
			goal := 1.0
			if jobs >= 5000 {
				goal = 1. / 8
			}
			found = append(found, workload{fmt.Sprintf("one/%d", jobs), fmt.Sprintf("one JobSet of %d Jobs", jobs), "restart",
				"all exist again after one failed", goal, 1. / 3, jobs})
		}
	}
	slices.SortFunc(found, func(a, b workload) int { return a.jobs - b.jobs })
	return found
}

func table(theirs, ours, embedded string) {
	peer, muster, whole := harness.ReadResults(theirs), harness.ReadResults(ours), harness.ReadResults(embedded)
	fmt.Println("| | Go | muster | muster / Go | goal |\n|---|---:|---:|---:|---:|")
	for _, w := range workloads(muster) {
		derive(peer, w)
		derive(muster, w)
		row := func(title, key, format string, scale, goal float64) {
			line(w.title+": "+title, format, peer[w.name+key]*scale, muster[w.name+key]*scale, goal)
		}
		row("all Jobs exist (s)", "/exist/time", "%.2f", 1, 1)
		row(w.secondTitle+" (s)", "/"+w.second+"/time", "%.2f", 1, w.timeGoal)
		row("processor time of the controller (s)", "/cpu", "%.2f", 1, 1./5)
		row("its peak memory (MiB)", "/memory", "%.1f", mebi, w.memoryGoal)
		row("its requests per Job", "/requests", "%.2f", 1, 1)
		row("of these in vain", "/wasted", "%.3f", 1, 0)
	}
	derive(whole, workload{name: "many", second: "complete"})
	row := func(title, key, format string, scale, goal float64) {
		line("whole stack, many JobSets: "+title, format, peer["many"+key]*scale, whole["many"+key]*scale, goal)
	}
	row("all Jobs exist (s)", "/exist/time", "%.2f", 1, 1./20)
	row("all Completed (s)", "/complete/time", "%.2f", 1, 1./20)
	row("processor time (s)", "/stack cpu", "%.2f", 1, 1)
	row("peak memory (MiB)", "/stack memory", "%.0f", mebi, 1)
}

// derive adds up the processor time of both phases.
func derive(r map[string]float64, w workload) {
	for _, key := range []string{"/cpu", "/stack cpu"} {
		r[w.name+key] = r[w.name+"/exist"+key] + r[w.name+"/"+w.second+key]
	}
}

func line(title, format string, peer, ours, goal float64) {
	ratio, verdict := "–", "missed"
	if peer != 0 {
		ratio = fmt.Sprintf("%.3f", ours/peer)
	}
	if ours <= peer*goal {
		verdict = "met"
	}
	fmt.Printf("| %s | %s | %s | %s | ≤ %.3g: %s |\n", title, fmt.Sprintf(format, peer), fmt.Sprintf(format, ours), ratio, goal, verdict)
}
