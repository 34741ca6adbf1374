package main

import (
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"muster.test/reliability/harness"
)

const (
	readyTimeout = 2 * time.Minute
	settle       = 3 * time.Second // until memory is measured
)

func (b *bench) dial() *harness.Conn {
	conn, err := b.target.Dial()
	if err != nil {
		log.Fatal(err)
	}
	return conn
}

func expect(answer harness.Answer, err error, codes ...int) harness.Answer {
	if err != nil {
		log.Fatal(err)
	}
	if !slices.Contains(codes, answer.Code) {
		log.Fatal("unexpected answer: ", answer)
	}
	return answer
}

// prepare makes what kube-apiserver asks of a namespace before it takes Pods, and what its controllers would make.
func (b *bench) prepare() {
	account := []byte(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}}`)
	conn := b.dial()
	defer conn.Close()
	answer, err := conn.Do("POST", "/api/v1/namespaces/default/serviceaccounts", harness.JSON, account)
	expect(answer, err, 201, 409)
}

// memory is what all processes of the server occupy.
func (b *bench) memory() float64 {
	time.Sleep(settle)
	sum := int64(0)
	for _, pid := range b.pids {
		bytes, err := harness.Resident(pid)
		if err != nil {
			log.Fatal(err)
		}
		sum += bytes
	}
	return float64(sum)
}

// cpu is the processor time that the server has used.
func (b *bench) cpu() (sum time.Duration) {
	for _, pid := range b.pids {
		used, err := harness.ProcessorTime(pid)
		if err != nil {
			log.Fatal(err)
		}
		sum += used
	}
	return sum
}

// sinceStart is how long ago the first process began.
func (b *bench) sinceStart() time.Duration {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		log.Fatal(err)
	}
	up, _ := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
	began, err := harness.StartedAfterBoot(b.pids[0])
	if err != nil {
		log.Fatal(err)
	}
	return time.Duration(up*float64(time.Second)) - began
}

// measureStart polls until the server says that it is ready. The clock of processes has a resolution of 10 ms.
func (b *bench) measureStart(kubeconfig string) {
	for deadline := time.Now().Add(readyTimeout); ; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			log.Fatal("not ready")
		}
		target, err := harness.FromKubeconfig(kubeconfig)
		if err != nil {
			continue
		}
		conn, err := target.Dial()
		if err != nil {
			continue
		}
		answer, err := conn.Get("/readyz")
		took := b.sinceStart()
		conn.Close()
		if err == nil && answer.Code == 200 {
			harness.Report("start", took.Seconds())
			harness.Report("memory/empty", b.memory())
			return
		}
	}
}

// sample is what many clients together achieved.
type sample struct {
	count   int64
	elapsed time.Duration
	cpu     time.Duration // of the server
	times   []time.Duration
}

func (s sample) report(name string) {
	harness.Report(name+"/s", float64(s.count)/s.elapsed.Seconds())
	harness.Report(name+"/cpu", s.cpu.Seconds()/float64(s.count))
	slices.Sort(s.times)
	harness.Report(name+"/p50", s.times[len(s.times)/2].Seconds())
	harness.Report(name+"/p99", s.times[len(s.times)*99/100].Seconds())
}

// run lets n clients call again and again, for b.duration or until `most` calls have been made.
func (b *bench) run(n int, most int64, call func(conn *harness.Conn, sequence int64)) (s sample) {
	var sequence atomic.Int64
	var all sync.WaitGroup
	times := make([][]time.Duration, n)
	conns := make([]*harness.Conn, n)
	for i := range conns {
		conns[i] = b.dial()
	}
	begun, cpu := time.Now(), b.cpu()
	for i, conn := range conns {
		all.Add(1)
		go func() {
			defer all.Done()
			defer conn.Close()
			for most > 0 || time.Since(begun) < b.duration {
				number := sequence.Add(1) - 1
				if most > 0 && number >= most {
					return
				}
				start := time.Now()
				call(conn, number)
				times[i] = append(times[i], time.Since(start))
			}
		}()
	}
	all.Wait()
	s.elapsed, s.cpu = time.Since(begun), b.cpu()-cpu
	for _, some := range times {
		s.count += int64(len(some))
		s.times = append(s.times, some...)
	}
	return s
}

type kind struct {
	name, path string
	object     func(string) []byte
}

func (b *bench) measureCreate(k kind, writers int, title string) {
	b.run(writers, 0, func(conn *harness.Conn, n int64) {
		answer, err := conn.Do("POST", k.path, harness.JSON, k.object(fmt.Sprintf("%s-%d-%d", title, writers, n)))
		expect(answer, err, 201)
	}).report(fmt.Sprintf("%s/%s/%d", title, k.name, writers))
}

// measureCreates looks at the first seconds of a new server, whose files still grow, and then at how it goes on.
func (b *bench) measureCreates() {
	pods, maps := kind{"pod", podsPath, pod}, kind{"configmap", mapsPath, configMap}
	b.measureCreate(pods, 1, "first")
	b.fill(b.pods)
	for _, k := range []kind{pods, maps} {
		for _, writers := range []int{1, 16, 64} {
			b.measureCreate(k, writers, "create")
		}
	}
}

var remainingItems = regexp.MustCompile(`"remainingItemCount":(\d+)`)

// remaining is what a page of a list says about the number of those that follow.
func remaining(list []byte) int {
	match := remainingItems.FindSubmatch(list)
	if match == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(match[1]))
	return n
}

// fill makes sure that there are n Pods.
func (b *bench) fill(n int) {
	conn := b.dial()
	answer, err := conn.Get(podsPath + "?limit=1")
	text := expect(answer, err, 200).Body
	there := 0
	if strings.Contains(string(text), `"items":[{`) {
		there = 1 + remaining(text)
	}
	conn.Close()
	if there >= n {
		return
	}
	b.run(64, int64(n-there), func(conn *harness.Conn, i int64) {
		answer, err := conn.Do("POST", podsPath, harness.JSON, pod(fmt.Sprintf("worker-%06d", int64(there)+i)))
		expect(answer, err, 201)
	})
}

func (b *bench) measureGets() {
	for _, clients := range []int{1, 64} {
		b.run(clients, 0, func(conn *harness.Conn, _ int64) {
			answer, err := conn.Get(fmt.Sprintf("%s/worker-%06d", podsPath, rand.IntN(b.pods)))
			expect(answer, err, 200)
		}).report(fmt.Sprintf("get/%d", clients))
	}
}

func (b *bench) measureLists() {
	bytes := 0
	s := b.run(1, 7, func(conn *harness.Conn, _ int64) {
		answer, err := conn.Get(podsPath)
		bytes = len(expect(answer, err, 200).Body)
	})
	s.report("list")
	harness.Report("object bytes", float64(bytes)/float64(b.pods))
}
