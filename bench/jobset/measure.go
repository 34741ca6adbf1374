package main

import (
	"fmt"
	"log"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"muster.test/reliability/harness"
)

const writers = 64 // connections of the benchmark

type bench struct {
	target     harness.Target
	conns      []*harness.Conn // of the writers
	controller []int
	stack      []int
}

func (b *bench) measureMany(sets int) {
	jobs := b.watch(jobsPath)
	ends := b.watch(jobSetsPath)
	for range min(writers, sets) {
		b.conns = append(b.conns, b.dial())
	}
	phase := b.begin()
	names := make([]string, sets)
	for i := range names {
		names[i] = fmt.Sprintf("set-%04d", i)
	}
	b.each(names, func(conn *harness.Conn, name string) {
		expect(201)(conn.Do("POST", jobSetsPath, harness.JSON, jobSet(name, 2, 2)))
	})
	made := jobs.wait(4*sets, object.exists)
	phase.end("many/exist")
	phase = b.begin()
	b.each(made, func(conn *harness.Conn, name string) {
		expect(200)(conn.Do("PATCH", jobsPath+"/"+name+"/status", mergePatch, completed()))
	})
	ends.wait(sets, object.completed)
	phase.end("many/complete")
	b.reportPeaks("many")
}

func (b *bench) measureOne(count int) {
	title := fmt.Sprintf("one/%d", count)
	jobs := b.watch(jobsPath)
	conn := b.dial()
	phase := b.begin()
	expect(201)(conn.Do("POST", jobSetsPath, harness.JSON, jobSet("set", 1, count)))
	made := jobs.wait(count, object.exists)
	phase.end(title + "/exist")
	phase = b.begin()
	expect(200)(conn.Do("PATCH", jobsPath+"/"+made[0]+"/status", mergePatch, failed()))
	jobs.wait(count, object.restarted)
	phase.end(title + "/restart")
	b.reportPeaks(title)
}

func (b *bench) dial() *harness.Conn {
	conn, err := b.target.Dial()
	check(err)
	return conn
}

func expect(code int) func(harness.Answer, error) {
	return func(answer harness.Answer, err error) {
		check(err)
		if answer.Code != code {
			log.Fatal("unexpected answer: ", answer)
		}
	}
}

// each calls for every name, on all connections at once.
func (b *bench) each(names []string, call func(conn *harness.Conn, name string)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for _, conn := range b.conns {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := next.Add(1) - 1; i < int64(len(names)); i = next.Add(1) - 1 {
				call(conn, names[i])
			}
		}()
	}
	all.Wait()
}

// phase is a part of the work whose time and processor time count.
type phase struct {
	bench             *bench
	begun             time.Time
	controller, stack time.Duration
}

func (b *bench) begin() phase {
	return phase{b, time.Now(), processorTime(b.controller), processorTime(b.stack)}
}

// end takes the time at once and the processor time when nothing is left to do.
func (p phase) end(name string) {
	harness.Report(name+"/time", time.Since(p.begun).Seconds())
	time.Sleep(settle)
	harness.Report(name+"/cpu", (processorTime(p.bench.controller) - p.controller).Seconds())
	harness.Report(name+"/stack cpu", (processorTime(p.bench.stack) - p.stack).Seconds())
}

func processorTime(pids []int) (sum time.Duration) {
	for _, pid := range pids {
		used, err := harness.ProcessorTime(pid)
		check(err)
		sum += used
	}
	return sum
}

func (b *bench) reportPeaks(name string) {
	harness.Report(name+"/memory", peak(b.controller))
	harness.Report(name+"/stack memory", peak(b.stack))
}

func peak(pids []int) (sum float64) {
	for _, pid := range pids {
		bytes, err := harness.PeakResident(pid)
		check(err)
		sum += float64(bytes)
	}
	return sum
}

// watched is what a watch has shown so far, by name. Somebody may wait until `is` holds for some of them: `holding` is for how many.
type watched struct {
	mutex   sync.Mutex
	changed *sync.Cond
	objects map[string]object
	is      func(object) bool
	holding int
}

func (b *bench) watch(path string) *watched {
	conn := b.dial()
	answer, err := conn.Get(path + "?limit=1")
	check(err)
	w := &watched{objects: map[string]object{}, is: func(object) bool { return false }}
	w.changed = sync.NewCond(&w.mutex)
	from := harness.Version(answer.Body)
	stream := open(conn, path, from)
	go func() {
		for {
			from = w.follow(stream, from)
			stream = open(b.dial(), path, from)
		}
	}()
	return w
}

func open(conn *harness.Conn, path string, from uint64) *harness.Stream {
	stream, refusal, err := conn.Watch(fmt.Sprintf("%s?watch=true&resourceVersion=%d", path, from))
	check(err)
	if stream == nil {
		log.Fatal("watch refused: ", refusal)
	}
	return stream
}

// follow returns how far it came when the stream ends: servers cut off watchers that did not get a processor for too long.
func (w *watched) follow(stream *harness.Stream, from uint64) uint64 {
	for {
		line, err := stream.Next()
		if err != nil {
			return from
		}
		from = harness.Version(line)
		event := decodeEvent(line)
		w.mutex.Lock()
		w.put(event.object, event.kind == "DELETED")
		w.mutex.Unlock()
		w.changed.Signal()
	}
}

func (w *watched) put(now object, deleted bool) {
	if before, known := w.objects[now.name]; known && w.is(before) {
		w.holding--
	}
	if deleted {
		delete(w.objects, now.name)
		return
	}
	w.objects[now.name] = now
	if w.is(now) {
		w.holding++
	}
}

// wait returns the names of those for which `is` holds as soon as they are so many.
func (w *watched) wait(count int, is func(object) bool) []string {
	alarm := time.AfterFunc(patience, func() { log.Fatalf("there were not %d after %v", count, patience) })
	defer alarm.Stop()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.is, w.holding = is, len(w.names(is))
	for w.holding < count {
		w.changed.Wait()
	}
	return w.names(is)
}

func (w *watched) names(is func(object) bool) (names []string) {
	for name, object := range w.objects {
		if is(object) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
