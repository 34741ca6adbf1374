// Load measures an API server: muster or kube-apiserver, the same requests to both. bench/apiserver/run.sh drives it.
//
//	load start   -kubeconfig F -pids P[,P...]   waits for /readyz; time since the first process began, memory when empty
//	load create  -kubeconfig F -pids ...        creates per second of Pods and ConfigMaps with 1, 16 and 64 writers
//	load serve   -kubeconfig F -pids ...        memory with 10,000 Pods, gets, lists, latency of watches
//	load watch   -kubeconfig F -pids ...        latency of watches alone
//	load fill    -kubeconfig F -pids ... -pods N   memory with N Pods
//	load table   OURS THEIRS                    both results side by side
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

// bench is one server under measurement.
type bench struct {
	target   harness.Target
	pids     []int
	duration time.Duration // of each measurement of throughput
	pods     int
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: load start|create|serve|fill|table ...")
	}
	if os.Args[1] == "table" {
		table(os.Args[2], os.Args[3])
		return
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "the server and the credentials")
	pids := flags.String("pids", "", "its processes")
	seconds := flags.Float64("seconds", 5, "length of each measurement of throughput")
	pods := flags.Int("pods", 10_000, "Pods to fill it with")
	flags.Parse(os.Args[2:])

	b := &bench{duration: time.Duration(*seconds * float64(time.Second)), pods: *pods}
	for _, text := range strings.Split(*pids, ",") {
		pid, err := strconv.Atoi(text)
		if err != nil {
			log.Fatal(err)
		}
		b.pids = append(b.pids, pid)
	}
	if os.Args[1] == "start" {
		b.measureStart(*kubeconfig)
		return
	}
	var err error
	if b.target, err = harness.FromKubeconfig(*kubeconfig); err != nil {
		log.Fatal(err)
	}
	b.prepare()
	switch os.Args[1] {
	case "create":
		b.measureCreates()
	case "serve":
		b.fill(b.pods)
		harness.Report("pods", float64(b.pods))
		harness.Report("memory/full", b.memory())
		b.measureLists()
		b.measureGets()
		b.measureWatches()
	case "watch":
		b.measureWatches()
	case "fill":
		b.fill(b.pods)
		harness.Report("many pods", float64(b.pods))
		harness.Report("memory/many", b.memory())
	default:
		log.Fatal("unknown command ", os.Args[1])
	}
}
