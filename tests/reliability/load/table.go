package main

import (
	"fmt"

	"muster.test/reliability/harness"
)

// row is a line of the table. The ratio is written so that more is better for us.
type row struct {
	title, key string
	scale      float64
	format     string
	more       bool // whether more is better
	goal       string
}

const (
	milli = 1e3
	micro = 1e6
	mebi  = 1.0 / (1 << 20)
)

var rows = []row{
	{"creates/s, 4 kB Pod, 1 writer, new server", "first/pod/1/s", 1, "%.0f", true, ""},
	{"creates/s, 4 kB Pod, 1 writer", "create/pod/1/s", 1, "%.0f", true, ""},
	{"creates/s, 4 kB Pod, 16 writers", "create/pod/16/s", 1, "%.0f", true, ""},
	{"creates/s, 4 kB Pod, 64 writers", "create/pod/64/s", 1, "%.0f", true, "10×"},
	{"— p99 (ms)", "create/pod/64/p99", milli, "%.1f", false, ""},
	{"— processor time each (µs)", "create/pod/64/cpu", micro, "%.0f", false, ""},
	{"creates/s, ConfigMap, 1 writer", "create/configmap/1/s", 1, "%.0f", true, ""},
	{"creates/s, ConfigMap, 16 writers", "create/configmap/16/s", 1, "%.0f", true, ""},
	{"creates/s, ConfigMap, 64 writers", "create/configmap/64/s", 1, "%.0f", true, "10×"},
	{"— p99 (ms)", "create/configmap/64/p99", milli, "%.1f", false, ""},
	{"— processor time each (µs)", "create/configmap/64/cpu", micro, "%.0f", false, ""},
	{"gets/s of a Pod, 1 client", "get/1/s", 1, "%.0f", true, ""},
	{"gets/s of a Pod, 64 clients", "get/64/s", 1, "%.0f", true, ""},
	{"— processor time each (µs)", "get/64/cpu", micro, "%.0f", false, ""},
	{"list of all Pods, median (ms)", "list/p50", milli, "%.0f", false, ""},
	{"watch p50, 100 watchers, 100 creates/s (ms)", "watch/100/p50", milli, "%.2f", false, ""},
	{"watch p99, 100 watchers, 100 creates/s (ms)", "watch/100/p99", milli, "%.2f", false, "5×"},
	{"— after the writer's answer, p99 (ms)", "watch/100/delivery/p99", milli, "%.2f", false, ""},
	{"— processor time per event (µs)", "watch/100/cpu", micro, "%.1f", false, ""},
	{"watch p50, 100 watchers, 300 creates/s (ms)", "watch/300/p50", milli, "%.2f", false, ""},
	{"watch p99, 100 watchers, 300 creates/s (ms)", "watch/300/p99", milli, "%.2f", false, "5×"},
	{"— after the writer's answer, p99 (ms)", "watch/300/delivery/p99", milli, "%.2f", false, ""},
	{"— processor time per event (µs)", "watch/300/cpu", micro, "%.1f", false, ""},
	{"start until /readyz (s)", "start", 1, "%.2f", false, "20×"},
	{"start again with the Pods (s)", "restart", 1, "%.2f", false, ""},
	{"memory, empty (MiB)", "memory/empty", mebi, "%.0f", false, "10×"},
	{"memory, with the Pods (MiB)", "memory/full", mebi, "%.0f", false, ""},
	{"memory, with many Pods (MiB)", "memory/many", mebi, "%.0f", false, ""},
	{"start again with many Pods (s)", "restart/many", 1, "%.2f", false, ""},
	{"JSON of a Pod (bytes)", "object bytes", 1, "%.0f", false, ""},
	{"memory per Pod / its JSON", "overhead", 1, "%.2f", false, "≤ 1.5"},
	{"memory per Pod / its JSON, many", "overhead/many", 1, "%.2f", false, "≤ 1.5"},
}

// derive adds what follows from other results.
func derive(r map[string]float64) {
	overhead := func(name, memory, count string) {
		if r[memory] != 0 && r["memory/empty"] != 0 && r[count] != 0 && r["object bytes"] != 0 {
			r[name] = (r[memory] - r["memory/empty"]) / r[count] / r["object bytes"]
		}
	}
	overhead("overhead", "memory/full", "pods")
	overhead("overhead/many", "memory/many", "many pods")
}

func table(ours, theirs string) {
	a, b := harness.ReadResults(ours), harness.ReadResults(theirs)
	derive(a)
	derive(b)
	cell := func(r row, results map[string]float64) string {
		if value, ok := results[r.key]; ok {
			return fmt.Sprintf(r.format, value*r.scale)
		}
		return "–"
	}
	fmt.Println("| | muster | kube-apiserver + etcd | better by | goal |\n|---|---:|---:|---:|---:|")
	for _, r := range rows {
		if _, measured := a[r.key]; !measured {
			continue
		}
		ratio := "–"
		if x, y := a[r.key], b[r.key]; x != 0 && y != 0 && r.key != "object bytes" {
			if r.more {
				x, y = y, x
			}
			ratio = fmt.Sprintf("%.1f×", y/x)
		}
		fmt.Printf("| %s | %s | %s | %s | %s |\n", r.title, cell(r, a), cell(r, b), ratio, r.goal)
	}
}
