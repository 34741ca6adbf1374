package reliability

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"muster.test/reliability/harness"
	"muster.test/reliability/linear"
)

const (
	linearClients = 32
	linearKeys    = 8
)

// recorder is one client and what it did, per key.
type recorder struct {
	conn    *harness.Conn
	random  *rand.Rand
	begun   time.Time
	id      int
	seen    [linearKeys]harness.Meta // newest version of each key that this client knows
	history [linearKeys][]linear.Op
}

func (r *recorder) now() int64 { return int64(time.Since(r.begun)) }

// step does one random operation on one random key and records it.
func (r *recorder) step(n int) error {
	key := r.random.IntN(linearKeys)
	name := fmt.Sprintf("key-%d", key)
	path := harness.ConfigMaps + "/" + name
	op := linear.Op{Kind: linear.Read, Value: fmt.Sprintf("%d-%d", r.id, n)}
	known := r.seen[key]
	var answer harness.Answer
	var err error
	op.Call = r.now()
	switch dice := r.random.IntN(10); {
	case dice < 3 || (dice < 7 && known.UID == ""):
		answer, err = r.conn.Get(path)
	case dice < 7:
		op.Kind, op.Expected = linear.Update, known.Version()
		object := harness.NewConfigMap(name, known.ResourceVersion, map[string]string{"value": op.Value})
		answer, err = r.conn.Do("PUT", path, harness.JSON, object.JSON())
	case dice < 9:
		op.Kind = linear.Create
		object := harness.NewConfigMap(name, "", map[string]string{"value": op.Value})
		answer, err = r.conn.Do("POST", harness.ConfigMaps, harness.JSON, object.JSON())
	default:
		op.Kind = linear.Delete
		answer, err = r.conn.Do("DELETE", path, "", nil)
	}
	op.Return = r.now()
	if err != nil {
		return err
	}
	if err := r.note(key, &op, answer); err != nil {
		return fmt.Errorf("%v: %w", op, err)
	}
	r.history[key] = append(r.history[key], op)
	return nil
}

// note completes an operation with what was answered.
func (r *recorder) note(key int, op *linear.Op, answer harness.Answer) error {
	expected := map[linear.Kind][]int{linear.Read: {404}, linear.Create: {409}, linear.Update: {404, 409}, linear.Delete: {404}}
	if answer.Code >= 400 {
		_, err := harness.Decode[harness.Status](answer, expected[op.Kind]...)
		op.Gone = answer.Code == 404
		r.seen[key] = harness.Meta{}
		return err
	}
	op.OK = true
	if op.Kind == linear.Delete {
		status, err := harness.Decode[harness.Status](answer, 200)
		op.UID = status.Details.UID
		return err
	}
	object, err := harness.Decode[harness.ConfigMap](answer, 200, 201)
	op.Version, op.UID = object.Metadata.Version(), object.Metadata.UID
	r.seen[key] = object.Metadata
	if op.Kind == linear.Read {
		op.Value = object.Data["value"]
	} else if object.Data["value"] != op.Value {
		return fmt.Errorf("answered with %q", object.Data["value"])
	}
	return err
}

// R4: each operation takes effect at one moment between request and answer.
func TestHistoryIsLinearizable(t *testing.T) {
	operations := harness.Figure("OPERATIONS", 50_000, 2_000_000)
	server := serve(t)
	seed, begun := harness.Seed(), time.Now()
	recorders := make([]*recorder, linearClients)
	inParallel(t, server.Target, linearClients, func(i int, conn *harness.Conn) error {
		r := &recorder{conn: conn, random: harness.Random(seed, i), begun: begun, id: i}
		recorders[i] = r
		for n := range operations / linearClients {
			if err := r.step(n); err != nil {
				return err
			}
		}
		return nil
	})
	if t.Failed() {
		t.FailNow()
	}
	counts := map[string]int{}
	for key := range linearKeys {
		var history []linear.Op
		for _, r := range recorders {
			history = append(history, r.history[key]...)
		}
		if err := linear.Check(history); err != nil {
			t.Errorf("key %d, seed %d: %v", key, seed, err)
		}
		for _, op := range history {
			counts[op.Kind.String()+" "+strconv.FormatBool(op.OK)]++
		}
	}
	t.Logf("%v in %v", counts, time.Since(begun).Round(time.Millisecond))
}
