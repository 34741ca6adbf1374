package reliability

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster.test/reliability/harness"
)

const (
	crashWriters   = 64
	slotsPerWriter = 8
	mostAcks       = 600 // a server lives until about so many writes are acknowledged, at most
	roundTimeout   = 20 * time.Second
)

// content is one state of an object: its sequence number, 0 if it is absent.
type content struct {
	seq     int
	version string
}

// slot is one name. Its writer knows what was acknowledged last, and what the write under way when the server died would
// have made of it: nothing else may be found afterwards.
type slot struct {
	name     string
	seq      int
	certain  content
	possible content
	open     bool // whether `possible` is possible
}

// object spreads the sequence number over the whole object, so that a mixture of two states shows.
func (s *slot) object(seq int, version string) harness.ConfigMap {
	mark := strconv.Itoa(seq)
	return harness.NewConfigMap(s.name, version, map[string]string{
		"a": mark, "m": strings.Repeat(mark+" ", 20+seq%200), "z": mark})
}

func sameData(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for key, value := range a {
		if b[key] != value {
			return false
		}
	}
	return true
}

// step does one write. An error of the connection leaves the slot open; a refusal by the server is a failure of the test.
func (s *slot) step(conn *harness.Conn, random *rand.Rand) (alive bool, failure error) {
	s.seq++
	s.possible, s.open = content{seq: s.seq}, true
	var answer harness.Answer
	var err error
	switch present := s.certain.seq != 0; {
	case !present:
		answer, err = conn.Do("POST", harness.ConfigMaps, harness.JSON, s.object(s.seq, "").JSON())
	case random.IntN(4) == 0:
		s.possible = content{}
		answer, err = conn.Do("DELETE", harness.ConfigMaps+"/"+s.name, "", nil)
	default:
		answer, err = conn.Do("PUT", harness.ConfigMaps+"/"+s.name, harness.JSON, s.object(s.seq, s.certain.version).JSON())
	}
	if err != nil {
		return false, nil
	}
	if answer.Code != 200 && answer.Code != 201 {
		return false, fmt.Errorf("%s: refused with %v", s.name, answer)
	}
	s.certain, s.open = s.possible, false
	if s.certain.seq != 0 {
		s.certain.version = strconv.FormatUint(harness.Version(answer.Body), 10)
	}
	return true, nil
}

// verify compares what is there after a restart with what may be there, and goes on from it.
func (s *slot) verify(found *harness.ConfigMap) error {
	now := content{}
	if found != nil {
		seq, err := strconv.Atoi(found.Data["a"])
		if err != nil || !sameData(found.Data, s.object(seq, "").Data) {
			return fmt.Errorf("%s: half applied: %v", s.name, found.Data)
		}
		now = content{seq, found.Metadata.ResourceVersion}
	}
	if now != s.certain && !(s.open && now.seq == s.possible.seq) {
		return fmt.Errorf("%s: acknowledged %v, possible %v (%v), found %v", s.name, s.certain, s.possible, s.open, now)
	}
	s.certain, s.open = now, false
	return nil
}

type crashTest struct {
	slots [crashWriters][slotsPerWriter]slot
	acks  atomic.Int64
	seed  uint64
}

// write lets all writers work until the server is gone.
func (c *crashTest) write(t *testing.T, target harness.Target, round int) (done func()) {
	var all sync.WaitGroup
	for i := range crashWriters {
		all.Add(1)
		go func() {
			defer all.Done()
			random := harness.Random(c.seed, round*crashWriters+i)
			conn, err := target.Dial()
			if err != nil {
				return // killed before it could take everybody's call
			}
			defer conn.Close()
			for alive := true; alive; {
				if alive, err = c.slots[i][random.IntN(slotsPerWriter)].step(conn, random); err != nil {
					t.Error(err)
				}
				if alive {
					c.acks.Add(1)
				}
			}
		}()
	}
	return all.Wait
}

func (c *crashTest) verify(t *testing.T, target harness.Target) {
	conn, err := target.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	list, err := conn.List()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*harness.ConfigMap{}
	for i := range list.Items {
		found[list.Items[i].Metadata.Name] = &list.Items[i]
	}
	newest := list.Metadata.Version()
	for i := range c.slots {
		for j := range c.slots[i] {
			s := &c.slots[i][j]
			if version, _ := strconv.ParseUint(s.certain.version, 10, 64); version > newest {
				t.Errorf("%s: version %d was acknowledged, the store is at %d", s.name, version, newest)
			}
			if err := s.verify(found[s.name]); err != nil {
				t.Error(err)
			}
			delete(found, s.name)
		}
	}
	for name := range found {
		t.Errorf("%s: nobody wrote it", name)
	}
}

// R1: whenever the process is killed, every acknowledged write is there afterwards, and no write is there in part.
func TestKilledServerKeepsEveryAcknowledgedWrite(t *testing.T) {
	kills := harness.Figure("KILLS", 300, 10_000)
	test := &crashTest{seed: harness.Seed()}
	for i := range test.slots {
		for j := range test.slots[i] {
			test.slots[i][j].name = fmt.Sprintf("writer-%d-%d", i, j)
		}
	}
	random := harness.Random(test.seed, -1)
	dir := filepath.Join(t.TempDir(), "data")
	begun, slowest := time.Now(), time.Duration(0)
	for round := 0; round < kills && !t.Failed(); round++ {
		if random.IntN(10) == 0 { // also while it starts
			if err := harness.StartAndKill(binary, dir, time.Duration(random.IntN(40_000))*time.Microsecond); err != nil {
				t.Fatal(err)
			}
			continue
		}
		server, err := harness.Start(binary, dir)
		if err != nil {
			t.Fatalf("after %d kills: %v", round, err)
		}
		slowest = max(slowest, server.Ready)
		test.verify(t, server.Target)
		goal := test.acks.Load() + int64(random.IntN(mostAcks))
		done := test.write(t, server.Target, round)
		for deadline := time.Now().Add(roundTimeout); test.acks.Load() < goal && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(random.IntN(5_000)) * time.Microsecond)
		server.Kill()
		done()
	}
	server, err := harness.Start(binary, dir)
	if err != nil {
		t.Fatal(err)
	}
	test.verify(t, server.Target)
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	if err := harness.Check(binary, dir); err != nil {
		t.Error(err)
	}
	t.Logf("%d kills, %d acknowledged writes, slowest start %v, %v in all, seed %d", kills, test.acks.Load(), slowest, time.Since(begun).Round(time.Second), test.seed)
}
