package reliability

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"muster.test/reliability/harness"
)

const (
	podsPath    = "/api/v1/namespaces/default/pods"
	jobsPath    = "/apis/batch/v1/namespaces/default/jobs"
	setsPath    = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
	background  = `{"propagationPolicy":"Background"}`
	nobodyWaits = 5 * time.Second // beyond twice the time that a small set takes alone
)

// serveAll is serve with every controller, the scheduler and the agent.
func serveAll(t *testing.T, args ...string) *harness.Server {
	t.Helper()
	server, err := harness.StartWith(binary, filepath.Join(t.TempDir(), "data"), append([]string{"--controllers", "*"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Errorf("the server ended badly: %v", err)
		}
	})
	return server
}

func podTemplate(command, selector string) string {
	return fmt.Sprintf(`{"spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":1,%s"containers":[{"name":"main","image":"none","command":%s}]}}`, selector, command)
}

const nowhere = `"nodeSelector":{"place":"nowhere"},`

func jobSet(name string, replicas, parallelism int, command, selector string) string {
	return fmt.Sprintf(`{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":%q},"spec":{"replicatedJobs":[{"name":"w","replicas":%d,"template":{"spec":{"parallelism":%d,"completions":%d,"template":%s}}}]}}`,
		name, replicas, parallelism, parallelism, podTemplate(command, selector))
}

func must(t *testing.T, conn *harness.Conn, method, path, body string) harness.Answer {
	t.Helper()
	answer, err := conn.Do(method, path, harness.JSON, []byte(body))
	if err != nil || answer.Code >= 300 {
		t.Fatalf("%s %s: %v %v", method, path, answer, err)
	}
	return answer
}

// count is the number of objects of a collection.
func count(t *testing.T, conn *harness.Conn, path string) int {
	t.Helper()
	answer, err := conn.Get(path + "?limit=1")
	if err != nil || answer.Code != 200 {
		t.Fatal(answer, err)
	}
	var list struct {
		Metadata struct {
			RemainingItemCount int `json:"remainingItemCount"`
		} `json:"metadata"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(answer.Body, &list); err != nil {
		t.Fatal(err)
	}
	return list.Metadata.RemainingItemCount + len(list.Items)
}

// smallSet runs a set of two Jobs to its end and returns how long that took.
func smallSet(t *testing.T, conn *harness.Conn, name string) time.Duration {
	t.Helper()
	begun := time.Now()
	must(t, conn, "POST", setsPath, jobSet(name, 2, 1, `["true"]`, ""))
	for {
		answer, err := conn.Get(setsPath + "/" + name)
		if err != nil || answer.Code != 200 {
			t.Fatal(answer, err)
		}
		var set struct {
			Status struct {
				TerminalState string `json:"terminalState"`
			} `json:"status"`
		}
		if err := json.Unmarshal(answer.Body, &set); err != nil {
			t.Fatal(err)
		}
		if set.Status.TerminalState == "Completed" {
			break
		}
		if time.Since(begun) > 3*time.Minute {
			t.Fatalf("%s has not ended after %v: %s", name, time.Since(begun), answer.Body)
		}
		time.Sleep(10 * time.Millisecond)
	}
	took := time.Since(begun)
	must(t, conn, "DELETE", setsPath+"/"+name, background)
	return took
}

// neighbours measures small sets beside a load.
type neighbours struct {
	t     *testing.T
	conn  *harness.Conn
	alone time.Duration
	tries int
}

func newNeighbours(t *testing.T, conn *harness.Conn) *neighbours {
	t.Helper()
	n := &neighbours{t: t, conn: conn}
	for i := range 3 {
		n.alone = max(n.alone, smallSet(t, conn, fmt.Sprintf("alone-%d", i)))
	}
	t.Logf("a small set alone: at most %v", n.alone.Round(time.Millisecond))
	return n
}

func (n *neighbours) try(beside string) {
	n.t.Helper()
	n.tries++
	took := smallSet(n.t, n.conn, fmt.Sprintf("small-%d", n.tries))
	n.t.Logf("a small set beside %s: %v; %d jobs, %d pods", beside, took.Round(time.Millisecond), count(n.t, n.conn, jobsPath), count(n.t, n.conn, podsPath))
	if most := 2*n.alone + nobodyWaits; took > most {
		n.t.Errorf("a small set beside %s took %v, more than %v", beside, took, most)
	}
}

func logMemory(t *testing.T, server *harness.Server) {
	t.Helper()
	now, _ := harness.Resident(server.Pid())
	peak, _ := harness.PeakResident(server.Pid())
	processor, _ := harness.ProcessorTime(server.Pid())
	t.Logf("memory %d MiB, at most %d MiB; %v of processor time", now>>20, peak>>20, processor)
}

// gone waits until the collections are empty and returns how long that took.
func gone(t *testing.T, conn *harness.Conn, begun time.Time, patience time.Duration, paths ...string) time.Duration {
	t.Helper()
	told := begun
	for {
		left := 0
		for _, path := range paths {
			left += count(t, conn, path)
		}
		if left == 0 {
			return time.Since(begun)
		}
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			t.Logf("%v: %d are left", time.Since(begun).Round(time.Second), left)
		}
		if time.Since(begun) > patience {
			t.Fatalf("%d are left after %v", left, patience)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// A JobSet of 2^31-1 Jobs does not hold up a small one, and goes soon when it is deleted.
func TestARunawayJobSetStarvesNobody(t *testing.T) {
	seconds := harness.Figure("RUNAWAY_SECONDS", 15, 120)
	server := serveAll(t)
	conn := dial(t, server.Target)
	beside := newNeighbours(t, conn)
	begun := time.Now()
	must(t, conn, "POST", setsPath, jobSet("runaway", 1<<31-1, 1, `["sleep","600"]`, ""))
	for _, after := range []int{1, 5, 15, 30, 45, 60, 90, 120} {
		if after > seconds {
			break
		}
		time.Sleep(time.Until(begun.Add(time.Duration(after) * time.Second)))
		beside.try(fmt.Sprintf("the runaway set %d s after its start", after))
	}
	logMemory(t, server)
	jobs, pods := count(t, conn, jobsPath), count(t, conn, podsPath)
	begun = time.Now()
	must(t, conn, "DELETE", setsPath+"/runaway", background)
	beside.try("the runaway set that is being deleted")
	took := gone(t, conn, begun, 10*time.Minute, jobsPath, podsPath)
	t.Logf("deleted: %d jobs and %d pods in %v", jobs, pods, took.Round(time.Millisecond))
	logMemory(t, server)
}

// A Job that wants a hundred thousand pods is held back, says so, does not hold up a small set, and goes soon when it is deleted.
func TestAJobOfManyPodsStarvesNobody(t *testing.T) {
	limit := harness.Figure("RUNAWAY_PODS", 2_000, 50_000)
	server := serveAll(t, "--waiting-pods-of-set", fmt.Sprint(limit), "--waiting-pods", fmt.Sprint(limit))
	conn := dial(t, server.Target)
	beside := newNeighbours(t, conn)
	begun := time.Now()
	must(t, conn, "POST", setsPath, jobSet("many", 1, 100_000, `["sleep","600"]`, nowhere))
	for last := -1; ; {
		pods := count(t, conn, podsPath)
		if pods == last && pods >= limit {
			break
		}
		if last = pods; time.Since(begun) > 10*time.Minute {
			t.Fatalf("%d pods after %v", pods, time.Since(begun))
		}
		time.Sleep(time.Second)
	}
	t.Logf("%d pods after %v", count(t, conn, podsPath), time.Since(begun).Round(time.Second))
	if pods := count(t, conn, podsPath); pods != limit {
		t.Errorf("%d pods, not %d", pods, limit)
	}
	beside.try("a Job of many pods")
	logMemory(t, server)
	begun = time.Now()
	must(t, conn, "DELETE", setsPath+"/many", background)
	beside.try("a Job of many pods that is being deleted")
	t.Logf("deleted: %d pods of a Job in %v", limit, gone(t, conn, begun, 10*time.Minute, jobsPath, podsPath).Round(time.Millisecond))
	logMemory(t, server)
}

// Pods that wait are deleted as a collection, beside a small set.
func TestManyWaitingPodsGoSoon(t *testing.T) {
	pods := harness.Figure("RUNAWAY_PODS", 2_000, 50_000)
	server := serveAll(t)
	conn := dial(t, server.Target)
	beside := newNeighbours(t, conn)
	var next atomic.Int64
	begun := time.Now()
	inParallel(t, server.Target, 16, func(_ int, conn *harness.Conn) error {
		for i := next.Add(1); i <= int64(pods); i = next.Add(1) {
			body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p-%d"},%s`, i, podTemplate(`["sleep","600"]`, nowhere)[1:])
			answer, err := conn.Do("POST", podsPath, harness.JSON, []byte(body))
			if err != nil || answer.Code != 201 {
				return fmt.Errorf("%v %v", answer, err)
			}
		}
		return nil
	})
	t.Logf("%d pods created in %v", pods, time.Since(begun).Round(time.Millisecond))
	beside.try("many pods that wait")
	logMemory(t, server)
	ended := make(chan time.Duration)
	begun = time.Now()
	go func() {
		other, err := server.Target.Dial()
		if err == nil {
			defer other.Close()
			_, err = other.Do("DELETE", podsPath, harness.JSON, nil)
		}
		if err != nil {
			t.Error(err)
		}
		ended <- time.Since(begun)
	}()
	beside.try("many pods that are being deleted")
	took := gone(t, conn, begun, 10*time.Minute, podsPath)
	t.Logf("deleted: %d pods in %v, the request took %v", pods, took.Round(time.Millisecond), (<-ended).Round(time.Millisecond))
	logMemory(t, server)
}
