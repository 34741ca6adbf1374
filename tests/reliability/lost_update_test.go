package reliability

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"muster.test/reliability/harness"
)

const (
	updaters = 64
	counters = 64
)

// increment reads a counter and writes it back plus one, in one of the three ways that protect against a lost update.
func increment(conn *harness.Conn, path string, way int) (won bool, err error) {
	answer, err := conn.Get(path)
	if err != nil {
		return false, err
	}
	object, err := harness.Decode[harness.ConfigMap](answer, 200)
	if err != nil {
		return false, err
	}
	old := object.Data["n"]
	n, err := strconv.Atoi(old)
	if err != nil {
		return false, err
	}
	next := strconv.Itoa(n + 1)
	switch way {
	case 0:
		object.Data["n"] = next
		answer, err = conn.Do("PUT", path, harness.JSON, object.JSON())
	case 1:
		patch := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"data":{"n":%q}}`, object.Metadata.ResourceVersion, next)
		answer, err = conn.Do("PATCH", path, "application/merge-patch+json", []byte(patch))
	default:
		patch := fmt.Sprintf(`[{"op":"test","path":"/data/n","value":%q},{"op":"replace","path":"/data/n","value":%q}]`, old, next)
		answer, err = conn.Do("PATCH", path, "application/json-patch+json", []byte(patch))
	}
	if err != nil {
		return false, err
	}
	switch answer.Code {
	case 200:
		return true, nil
	case 409:
		return false, nil
	case 422: // how a failed `test` of a JSON patch is told
		if way == 2 {
			return false, nil
		}
	}
	return false, fmt.Errorf("unexpected answer %v", answer)
}

// R6: read-modify-write by many at once loses no update: the counters add up to the acknowledged increments.
func TestNoUpdateIsLost(t *testing.T) {
	increments := int64(harness.Figure("INCREMENTS", 100_000, 5_000_000))
	server := serve(t)
	conn := dial(t, server.Target)
	for i := range counters {
		object := harness.NewConfigMap(fmt.Sprintf("counter-%d", i), "", map[string]string{"n": "0"})
		if answer, err := conn.Do("POST", harness.ConfigMaps, harness.JSON, object.JSON()); err != nil || answer.Code != 201 {
			t.Fatal(answer, err)
		}
	}
	seed, begun := harness.Seed(), time.Now()
	var won, lost atomic.Int64
	inParallel(t, server.Target, updaters, func(i int, conn *harness.Conn) error {
		random := harness.Random(seed, i)
		for won.Load() < increments {
			ok, err := increment(conn, fmt.Sprintf("%s/counter-%d", harness.ConfigMaps, random.IntN(counters)), random.IntN(3))
			if err != nil {
				return err
			}
			if ok {
				won.Add(1)
			} else {
				lost.Add(1)
			}
		}
		return nil
	})
	list, err := conn.List()
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, object := range list.Items {
		var n int64
		if err := json.Unmarshal([]byte(object.Data["n"]), &n); err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if sum != won.Load() {
		t.Errorf("%d increments acknowledged, the counters add up to %d (seed %d)", won.Load(), sum, seed)
	}
	t.Logf("%d increments, %d conflicts, %v", sum, lost.Load(), time.Since(begun).Round(time.Millisecond))
}
