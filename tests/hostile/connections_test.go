package hostile

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster.test/reliability/harness"
)

const (
	idleBytes    = 64 << 10 // of memory that an idle connection may cost
	healthyCalls = 1_000
	healthyGoal  = 100 * time.Millisecond
	dialers      = 32
)

// open makes n connections and lets each send the beginning of a request.
func open(t *testing.T, n int, beginning string) (closeAll func()) {
	t.Helper()
	conns := make([]io.Closer, n)
	var all sync.WaitGroup
	for d := range dialers {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := d; i < n; i += dialers {
				conn, err := server.Target.Dial()
				if err != nil {
					t.Errorf("connection %d: %v", i, err)
					return
				}
				conns[i] = conn.Raw()
				io.WriteString(conn.Raw(), beginning)
			}
		}()
	}
	all.Wait()
	return func() {
		for _, conn := range conns {
			if conn != nil {
				conn.Close()
			}
		}
	}
}

// healthy measures an honest client: the 99th percentile of reads and writes.
func healthy(t *testing.T) time.Duration {
	t.Helper()
	conn := dial(t)
	var times []time.Duration
	for n := range healthyCalls {
		begun := time.Now()
		var answer harness.Answer
		var err error
		if n%4 == 0 {
			answer, err = conn.Do("POST", harness.ConfigMaps+"?dryRun=All", harness.JSON, []byte(configMap(`{"a":"b"}`)))
		} else {
			answer, err = conn.Get(harness.ConfigMaps)
		}
		if err != nil || answer.Code >= 300 {
			t.Fatal(answer, err)
		}
		times = append(times, time.Since(begun))
	}
	slices.Sort(times)
	return times[len(times)*99/100]
}

// Thousands of clients that only hold their connection cost others nothing, and little memory.
func TestIdleConnections(t *testing.T) {
	n := harness.Figure("IDLE", 5_000, 10_000)
	for _, c := range []struct{ name, beginning string }{
		{"silent after a request", "GET /healthz HTTP/1.1\r\nHost: " + server.Target.Address + "\r\n\r\n"},
		{"slow to send their header", "GET /healthz HTTP/1.1\r\nHost: "},
		{"slow to send their body", request("Content-Length: 1000000\r\n", `{"a":`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			alone, memory := healthy(t), resident(t)
			closeAll := open(t, n, c.beginning)
			defer closeAll()
			p99, growth := healthy(t), resident(t)-memory
			if p99 > healthyGoal && p99 > 2*alone {
				t.Errorf("an honest client waits %v (%v without the others)", p99, alone)
			}
			if growth > int64(n)*idleBytes {
				t.Errorf("%d connections take %d MiB", n, growth/mebibyte)
			}
			t.Logf("p99 %v (alone %v), %.1f kB per connection", p99, alone, float64(growth)/float64(n)/1000)
		})
	}
}

// unfinished opens n connections and sends a body of the given size on each, but for its last byte.
func unfinished(t *testing.T, n, size int, target harness.Target) (closeAll func()) {
	t.Helper()
	beginning := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n",
		harness.ConfigMaps, target.Address, target.Bearer, size)
	if target.Bearer == "" {
		beginning = strings.Replace(beginning, "Authorization: Bearer \r\n", "", 1)
	}
	text := beginning + strings.Repeat(" ", size-1)
	conns := make([]*harness.Conn, n)
	var all sync.WaitGroup
	for d := range dialers {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := d; i < n; i += dialers {
				conn, err := target.Dial()
				if err != nil {
					t.Errorf("connection %d: %v", i, err)
					return
				}
				conns[i] = conn
				conn.Raw().SetWriteDeadline(time.Now().Add(5 * time.Second))
				io.WriteString(conn.Raw(), text) // fails when the server has hung up
			}
		}()
	}
	all.Wait()
	return func() {
		for _, conn := range conns {
			if conn != nil {
				conn.Close()
			}
		}
	}
}

// Bodies that never end keep nobody from writing: those of a client that may not write are not read at all, and those of one
// that may take its own share at most, which its next write gets back.
func TestUnfinishedBodies(t *testing.T) {
	for _, c := range []struct {
		name   string
		target harness.Target
	}{{"without credentials", server.Target.WithBearer("")}, {"with credentials", server.Target}} {
		t.Run(c.name, func(t *testing.T) {
			memory := resident(t)
			defer unfinished(t, 200, 2_500_000, c.target)()
			defer unfinished(t, 200, 50_000, c.target)() // into the gaps that larger ones leave
			begun := time.Now()
			body := []byte(configMap(strings.Repeat(" ", 100_000) + `{"a":"b"}`))
			for { // the server may ask to come back until its patience with the others is over
				answer := send(t, "POST", harness.ConfigMaps+"?dryRun=All", harness.JSON, body)
				if answer.Code == 201 {
					break
				}
				if answer.Code != 429 || time.Since(begun) > 10*time.Second {
					t.Fatalf("after %v: %v", time.Since(begun), answer)
				}
				time.Sleep(100 * time.Millisecond)
			}
			growth := resident(t) - memory
			if growth > 256*mebibyte {
				t.Errorf("the bodies take %d MiB", growth/mebibyte)
			}
			t.Logf("a write succeeds after %v; the bodies take %d MiB", time.Since(begun), growth/mebibyte)
		})
	}
}

// ended says after how long the server hangs up on a client that sends one byte per interval.
func ended(t *testing.T, conn net.Conn, beginning string, interval, limit time.Duration) time.Duration {
	t.Helper()
	begun := time.Now()
	io.WriteString(conn, beginning)
	done := make(chan struct{})
	go func() { io.Copy(io.Discard, conn); close(done) }()
	for time.Since(begun) < limit {
		select {
		case <-done:
			return time.Since(begun)
		case <-time.After(interval):
			conn.Write([]byte("a"))
		}
	}
	return limit
}

// A client that sends its header byte by byte (slowloris), or never finishes its handshake, is hung up on in time.
func TestSlowHeaderIsEnded(t *testing.T) {
	t.Parallel()
	limit := 20 * time.Second
	if took := ended(t, dial(t).Raw(), "GET / HTTP/1.1\r\nX-A: ", 500*time.Millisecond, limit); took >= limit {
		t.Errorf("still there after %v", took)
	}
}

func TestSlowHandshakeIsEnded(t *testing.T) {
	t.Parallel()
	limit := 20 * time.Second
	conn, err := net.Dial("tcp", server.Target.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if took := ended(t, conn, "\x16\x03\x01\x40\x00\x01", 500*time.Millisecond, limit); took >= limit {
		t.Errorf("still there after %v", took)
	}
}

// Clients that begin the same handshake again and again, or talk plain HTTP to a TLS port, leave nothing behind.
func TestNoTLS(t *testing.T) {
	unchanged(t, func() {
		for range 500 {
			conn, err := net.Dial("tcp", server.Target.Address)
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			conn.Close()
		}
	})
}
