package hostile

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster.test/reliability/harness"
)

const (
	largeObjects = 20
	largeBytes   = 900_000
	// One user's share of the answers that are not taken, with room for two that are being made and for the allocator.
	shareBytes = 128 * mebibyte
	slackBytes = 160 * mebibyte
	patience   = 30 * time.Second // for the server to see that clients have gone, and to give their memory back
)

// reader is a client that may look at everything and change nothing.
func reader(t *testing.T, s *harness.Server) harness.Target {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Dir, "tokens"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if len(fields) == 3 && fields[2] == "muster:readers" {
			return s.Target.WithBearer(fields[0])
		}
	}
	t.Fatal("no token of a reader")
	return harness.Target{}
}

// stall asks and reads nothing.
func stall(t *testing.T, target harness.Target, path string) io.Closer {
	t.Helper()
	conn, err := target.Dial()
	if err != nil {
		t.Fatal(err)
	}
	conn.Raw().NetConn().(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprintf(conn.Raw(), "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n\r\n",
		path, target.Address, target.Bearer)
	return conn.Raw().NetConn()
}

// Clients that ask for much and read nothing cost a bounded amount of memory, which comes back, and cost others nothing.
func TestStalledReaders(t *testing.T) {
	own, err := harness.Start(harness.Binary("../.."), filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer own.Stop()
	writer, err := own.Target.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	for i := range largeObjects {
		object := harness.NewConfigMap(fmt.Sprintf("large-%d", i), "", map[string]string{"k": strings.Repeat("x", largeBytes)})
		if answer, err := writer.Do("POST", harness.ConfigMaps, harness.JSON, object.JSON()); err != nil || answer.Code != 201 {
			t.Fatal(answer.Code, err)
		}
	}
	memory := func() int64 {
		bytes, err := harness.Resident(own.Pid())
		if err != nil {
			t.Fatalf("the server is gone: %v", err)
		}
		return bytes
	}
	slow, before := reader(t, own), memory()
	for _, c := range []struct {
		name, query string
		n           int
	}{
		{"lists", "?includeObject=Object", 100},
		{"watches", "?includeObject=Object&watch=1", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			var conns []io.Closer
			var most int64
			for range c.n {
				conns = append(conns, stall(t, slow, harness.ConfigMaps+c.query))
				most = max(most, memory()-before)
			}
			answer, err := writer.Do("POST", harness.ConfigMaps+"?dryRun=All", harness.JSON, []byte(configMap(`{"a":"b"}`)))
			if err != nil || answer.Code != 201 {
				t.Errorf("a write beside them: %v %v", answer.Code, err)
			}
			if answer, err := writer.Get(harness.ConfigMaps); err != nil || answer.Code != 200 {
				t.Errorf("a list by another client beside them: %v %v", answer.Code, err)
			}
			for range 20 {
				time.Sleep(100 * time.Millisecond)
				most = max(most, memory()-before)
			}
			if bound := int64(shareBytes + slackBytes); most > bound {
				t.Errorf("%d of them take %d MiB, more than %d MiB", c.n, most/mebibyte, bound/mebibyte)
			}
			for _, conn := range conns {
				conn.Close()
			}
			begun, left := time.Now(), memory()-before
			for left > slackBytes/2 && time.Since(begun) < patience {
				time.Sleep(100 * time.Millisecond)
				left = memory() - before
			}
			if left > slackBytes/2 {
				t.Errorf("%d MiB are still there after they have gone", left/mebibyte)
			}
			t.Logf("at most %d MiB for %d of them; %d MiB %v after they have gone", most/mebibyte, c.n, left/mebibyte, time.Since(begun).Round(time.Second))
		})
	}
}
