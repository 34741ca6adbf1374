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
	watchWriters = 8
	watchSeconds = 6
)

// schedule is when each object was sent, answered, and seen by each watcher; all since begun.
type schedule struct {
	begun          time.Time
	sent, answered []time.Duration
	arrived        [watchers][]time.Duration
}

// measureWatches creates objects at a steady rate, the same for every server, and takes the time to each watcher's event: from
// sending the request, which includes the disk, and from its answer (0 if the event was first), which is the delivery alone.
func (b *bench) measureWatches() {
	for _, rate := range []int{100, 300} {
		b.measureWatch(rate)
	}
}

func (b *bench) measureWatch(rate int) {
	conn := b.dial()
	answer, err := conn.Get(mapsPath + "?limit=1")
	from := harness.Version(expect(answer, err, 200).Body)
	conn.Close()
	total := rate * watchSeconds
	s := &schedule{begun: time.Now(), sent: make([]time.Duration, total), answered: make([]time.Duration, total)}
	var all, connected sync.WaitGroup
	for i := range watchers {
		all.Add(1)
		connected.Add(1)
		go func() {
			defer all.Done()
			s.arrived[i] = make([]time.Duration, total)
			b.watch(s, i, from, connected.Done)
		}()
	}
	connected.Wait()
	first, cpu := time.Now(), b.cpu()
	for w := range watchWriters {
		all.Add(1)
		go func() {
			defer all.Done()
			b.writeWatched(s, w, rate, first)
		}()
	}
	all.Wait()
	s.report(fmt.Sprintf("watch/%d", rate), sample{elapsed: time.Since(first), cpu: b.cpu() - cpu})
}

func (b *bench) watch(s *schedule, watcher int, from uint64, connected func()) {
	conn := b.dial()
	defer conn.Close()
	stream, refusal, err := conn.Watch(mapsPath + "?watch=true&resourceVersion=" + strconv.FormatUint(from, 10))
	if stream == nil {
		log.Fatal("watch refused: ", refusal, err)
	}
	connected()
	for range s.sent {
		line, err := stream.Next()
		if err != nil {
			log.Fatal(err)
		}
		n, err := strconv.Atoi(string(harness.Field(line, `"n":"`)))
		if err != nil || s.arrived[watcher][n] != 0 {
			log.Fatal("unexpected event: ", string(line))
		}
		s.arrived[watcher][n] = time.Since(s.begun)
	}
}

// writeWatched creates every eighth object, each when its time has come.
func (b *bench) writeWatched(s *schedule, writer, rate int, first time.Time) {
	conn := b.dial()
	defer conn.Close()
	for n := writer; n < len(s.sent); n += watchWriters {
		time.Sleep(time.Until(first.Add(time.Duration(n) * time.Second / time.Duration(rate))))
		object := harness.NewConfigMap(fmt.Sprintf("watched-%d-%d", rate, n), "", map[string]string{"n": strconv.Itoa(n)})
		s.sent[n] = time.Since(s.begun)
		answer, err := conn.Do("POST", mapsPath, harness.JSON, object.JSON())
		s.answered[n] = time.Since(s.begun)
		expect(answer, err, 201)
	}
}

func (s *schedule) report(name string, base sample) {
	var fromSending, fromAnswer []time.Duration
	for n := range s.sent {
		for i := range watchers {
			fromSending = append(fromSending, s.arrived[i][n]-s.sent[n])
			fromAnswer = append(fromAnswer, max(0, s.arrived[i][n]-s.answered[n]))
		}
	}
	base.count = int64(len(fromSending))
	base.times = fromSending
	base.report(name)
	base.times = fromAnswer
	base.report(name + "/delivery")
}
