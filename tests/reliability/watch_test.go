package reliability

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster.test/reliability/harness"
)

const (
	watchWriters = 16
	watchNames   = 8    // per writer
	cutAfter     = 4000 // a watcher hangs up after so many events, at most
	lastName     = "the-end"
	replays      = 3 // watchers that come when everything has happened
)

// sequence is what a watcher saw. Two watchers saw the same if the digests are the same.
type sequence struct {
	last   uint64 // version of the newest event
	events int
	digest uint64
}

type event struct {
	kind, name string
	version    uint64
}

var watchPath = harness.ConfigMaps + "?watch=true&allowWatchBookmarks=true&resourceVersion="

// take adds one event, which must be newer than those before.
func (s *sequence) take(line []byte) (event, error) {
	e := event{string(harness.Field(line, `"type":"`)), string(harness.Field(line, `"name":"`)), harness.Version(line)}
	switch e.kind {
	case "BOOKMARK":
		if e.version < s.last {
			return e, fmt.Errorf("bookmark at %d after %d", e.version, s.last)
		}
		s.last = e.version
		return e, nil
	case "ADDED", "MODIFIED", "DELETED":
	default:
		return e, fmt.Errorf("unexpected event %.300s", line)
	}
	if e.version <= s.last {
		return e, fmt.Errorf("version %d after %d: %.300s", e.version, s.last, line)
	}
	s.last, s.events = e.version, s.events+1
	s.digest = mix(mix(s.digest^e.version, e.kind), e.name)
	return e, nil
}

// mix is FNV-1a.
func mix(digest uint64, text string) uint64 {
	for i := range len(text) {
		digest = (digest ^ uint64(text[i])) * 1099511628211
	}
	return digest
}

// follow watches until the last event, hanging up and dawdling at random.
func (s *sequence) follow(target harness.Target, random *rand.Rand, slow bool, cuts *atomic.Int64, note func(event)) error {
	for {
		conn, err := target.Dial()
		if err != nil {
			return err
		}
		stream, refusal, err := conn.Watch(watchPath + strconv.FormatUint(s.last, 10))
		if stream == nil {
			return errors.Join(err, fmt.Errorf("resume at %d refused: %v", s.last, refusal))
		}
		for left := random.IntN(cutAfter); left > 0; left-- {
			line, err := stream.Next()
			if err != nil {
				return fmt.Errorf("after %d events: %w", s.events, err)
			}
			e, err := s.take(line)
			if err != nil {
				return err
			}
			if note != nil && e.kind != "BOOKMARK" {
				note(e)
			}
			if e.name == lastName {
				conn.Close()
				return nil
			}
			if slow && random.IntN(1000) == 0 {
				time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
			}
		}
		conn.Close()
		cuts.Add(1)
	}
}

// acknowledged is what the writers know to have happened: versions of creates and updates, number of deletes.
type acknowledged struct {
	mutex    sync.Mutex
	versions map[uint64]string // "ADDED name"
	deletes  map[string]int
}

func (a *acknowledged) add(e event) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if e.kind == "DELETED" {
		a.deletes[e.name]++
	} else {
		a.versions[e.version] = e.kind + " " + e.name
	}
}

func (a *acknowledged) write(conn *harness.Conn, random *rand.Rand, writer, events int) error {
	var present [watchNames]bool
	for n := range events {
		i := random.IntN(watchNames)
		name := fmt.Sprintf("watched-%d-%d", writer, i)
		object := harness.NewConfigMap(name, "", map[string]string{"n": strconv.Itoa(n)})
		var answer harness.Answer
		var err error
		kind := "MODIFIED"
		switch {
		case !present[i]:
			kind, present[i] = "ADDED", true
			answer, err = conn.Do("POST", harness.ConfigMaps, harness.JSON, object.JSON())
		case random.IntN(5) == 0:
			kind, present[i] = "DELETED", false
			answer, err = conn.Do("DELETE", harness.ConfigMaps+"/"+name, "", nil)
		default:
			answer, err = conn.Do("PUT", harness.ConfigMaps+"/"+name, harness.JSON, object.JSON())
		}
		if err != nil || answer.Code >= 300 {
			return errors.Join(err, fmt.Errorf("refused: %v", answer))
		}
		a.add(event{kind, name, harness.Version(answer.Body)})
	}
	return nil
}

type watchTest struct {
	target harness.Target
	seed   uint64
	start  uint64
	seen   []sequence
	cuts   atomic.Int64
	all    sync.WaitGroup
}

func (w *watchTest) follow(t *testing.T, i int, note func(event)) {
	w.all.Add(1)
	go func() {
		defer w.all.Done()
		w.seen[i].last = w.start
		if err := w.seen[i].follow(w.target, harness.Random(w.seed, i), i%4 == 1, &w.cuts, note); err != nil {
			t.Errorf("watcher %d, seed %d: %v", i, w.seed, err)
		}
	}()
}

// R5: every watcher sees every event once and in order, however often it hangs up and however slowly it reads.
func TestWatchersSeeEveryEventOnce(t *testing.T) {
	watchers := harness.Figure("WATCHERS", 200, 1_000)
	events := harness.Figure("EVENTS", 20_000, 1_000_000)
	server := serve(t)
	conn := dial(t, server.Target)
	list, err := conn.List()
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	test := &watchTest{target: server.Target, seed: harness.Seed(), start: list.Metadata.Version(), seen: make([]sequence, watchers+replays)}
	acks := &acknowledged{versions: map[uint64]string{}, deletes: map[string]int{}}
	observed := &acknowledged{versions: map[uint64]string{}, deletes: map[string]int{}}
	test.follow(t, 0, observed.add) // one watcher is compared with what the writers know, the others with it
	for i := 1; i < watchers; i++ {
		test.follow(t, i, nil)
	}
	inParallel(t, server.Target, watchWriters, func(i int, conn *harness.Conn) error {
		return acks.write(conn, harness.Random(test.seed, -1-i), i, events/watchWriters)
	})
	last := harness.NewConfigMap(lastName, "", nil)
	answer, err := conn.Do("POST", harness.ConfigMaps, harness.JSON, last.JSON())
	if err != nil || answer.Code != 201 {
		t.Fatal(answer, err)
	}
	acks.add(event{"ADDED", lastName, harness.Version(answer.Body)})
	written := time.Since(begun)
	for i := range replays {
		test.follow(t, watchers+i, nil)
	}
	test.all.Wait()
	for i, s := range test.seen {
		if s != test.seen[0] {
			t.Errorf("watcher %d saw %+v, watcher 0 saw %+v (seed %d)", i, s, test.seen[0], test.seed)
		}
	}
	if !maps.Equal(acks.versions, observed.versions) || !maps.Equal(acks.deletes, observed.deletes) {
		t.Errorf("the watchers saw other events than the writers made (seed %d)", test.seed)
	}
	t.Logf("%d watchers × %d events, %d cuts; written in %v, seen by all in %v", len(test.seen), test.seen[0].events,
		test.cuts.Load(), written.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond))
}

// resume counts the events from a version up to the newest one, or returns the refusal.
func resume(t *testing.T, target harness.Target, from, newest uint64) (events int, refusal harness.Status) {
	t.Helper()
	conn := dial(t, target)
	stream, answer, err := conn.Watch(watchPath + strconv.FormatUint(from, 10))
	if err != nil {
		t.Fatal(err)
	}
	if stream == nil {
		refusal, err := harness.Decode[harness.Status](answer, 410)
		if err != nil {
			t.Fatal(err)
		}
		return 0, refusal
	}
	s := sequence{last: from}
	for s.last < newest {
		line, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		if string(harness.Field(line, `"type":"`)) == "ERROR" {
			var event struct{ Object harness.Status }
			if err := json.Unmarshal(line, &event); err != nil {
				t.Fatal(err)
			}
			return 0, event.Object
		}
		if _, err := s.take(line); err != nil {
			t.Fatal(err)
		}
	}
	return s.events, harness.Status{}
}

// R5: 410 only when really compacted. The log keeps at least 64 MiB of changes, and no more than that while little else is stored.
func TestExpiredOnlyWhenHistoryIsGone(t *testing.T) {
	server := serve(t)
	conn := dial(t, server.Target)
	filler := strings.Repeat("0123456789abcdef", 1<<16)[:1_000_000]
	versions := []uint64{}
	write := func(until int) {
		for n := len(versions); n < until; n++ {
			object := harness.NewConfigMap("large", "", map[string]string{"text": filler, "n": strconv.Itoa(n)})
			method, path := "PUT", harness.ConfigMaps+"/large"
			if n == 0 {
				method, path = "POST", harness.ConfigMaps
			}
			answer, err := conn.Do(method, path, harness.JSON, object.JSON())
			if err != nil || answer.Code >= 300 {
				t.Fatal(answer, err)
			}
			versions = append(versions, harness.Version(answer.Body))
		}
	}
	expect := func(from, wanted int) {
		t.Helper()
		events, refusal := resume(t, server.Target, versions[from], versions[len(versions)-1])
		if events != wanted || refusal.Code != 0 {
			t.Errorf("%d events, %+v", events, refusal)
		}
	}
	write(50)
	expect(0, 49)
	write(200)
	expect(150, 49)
	if events, refusal := resume(t, server.Target, versions[0], versions[199]); refusal.Code != 410 || refusal.Reason != "Expired" {
		t.Errorf("%d events, %+v", events, refusal)
	}
}
