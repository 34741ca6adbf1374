package main

import (
	"fmt"
	"log"
	"strconv"
	"sync"
	"time"

	"muster.test/reliability/harness"
)

const (
	watchers     = 100
	watchRate    = 100 // creates per second, the same for every server
	watchSeconds = 8
)

// measureWatches creates objects at a steady rate and takes the time to each watcher's event: from sending the request, which
// includes the disk, and from its answer (0 if the event was first), which is the delivery alone.
func (b *bench) measureWatches() {
	conn := b.dial()
	defer conn.Close()
	answer, err := conn.Get(mapsPath + "?limit=1")
	from := harness.Version(expect(answer, err, 200).Body)
	begun := time.Now()
	total := watchRate * watchSeconds
	sent, answered := make([]time.Duration, total), make([]time.Duration, total) // since begun
	arrived := make([][]time.Duration, watchers)
	var all, connected sync.WaitGroup
	for i := range watchers {
		all.Add(1)
		connected.Add(1)
		go func() {
			defer all.Done()
			conn := b.dial()
			defer conn.Close()
			stream, refusal, err := conn.Watch(mapsPath + "?watch=true&resourceVersion=" + strconv.FormatUint(from, 10))
			if stream == nil {
				log.Fatal("watch refused: ", refusal, err)
			}
			connected.Done()
			for range total {
				line, err := stream.Next()
				if err != nil {
					log.Fatal(err)
				}
				arrived[i] = append(arrived[i], time.Since(begun))
				if n := string(harness.Field(line, `"n":"`)); n != strconv.Itoa(len(arrived[i])-1) {
					log.Fatal("unexpected event: ", string(line))
				}
			}
		}()
	}
	connected.Wait()
	first, cpu := time.Now(), b.cpu()
	for n := range total {
		time.Sleep(time.Until(first.Add(time.Duration(n) * time.Second / watchRate)))
		object := harness.NewConfigMap(fmt.Sprintf("watched-%d", n), "", map[string]string{"n": strconv.Itoa(n)})
		sent[n] = time.Since(begun)
		answer, err := conn.Do("POST", mapsPath, harness.JSON, object.JSON())
		answered[n] = time.Since(begun)
		expect(answer, err, 201)
	}
	all.Wait()
	elapsed, used := time.Since(first), b.cpu()-cpu
	var fromSending, fromAnswer, answers []time.Duration
	for n := range total {
		answers = append(answers, answered[n]-sent[n])
		for i := range watchers {
			fromSending = append(fromSending, arrived[i][n]-sent[n])
			fromAnswer = append(fromAnswer, max(0, arrived[i][n]-answered[n]))
		}
	}
	sample{int64(len(fromSending)), elapsed, used, fromSending}.report("watch")
	sample{int64(len(fromAnswer)), elapsed, used, fromAnswer}.report("delivery")
	sample{int64(total), elapsed, used, answers}.report("watched create")
}
