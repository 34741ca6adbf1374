// Package hostile sends what no honest client sends. The server must say what is wrong, store nothing, and stay as it was.
package hostile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"muster.test/reliability/harness"
)

const mebibyte = 1 << 20

var server *harness.Server

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run serves all tests of the package with one server: what one of them breaks, the others see.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hostile")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	binary := harness.Binary("../..")
	if server, err = harness.Start(binary, filepath.Join(dir, "data")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "the server ended badly:", err)
		return 1
	}
	if err := harness.Check(binary, server.Dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func dial(t *testing.T) *harness.Conn {
	t.Helper()
	conn, err := server.Target.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// refusal demands a Status with one of the codes, whose text agrees with the code of the answer.
func refusal(answer harness.Answer, codes ...int) error {
	var status harness.Status
	if err := json.Unmarshal(answer.Body, &status); err != nil {
		return fmt.Errorf("not a Status: %v", answer)
	}
	if !slices.Contains(codes, answer.Code) {
		return fmt.Errorf("expected %v: %v", codes, answer)
	}
	if status.Kind != "Status" || status.Status != "Failure" || status.Code != answer.Code || status.Message == "" {
		return fmt.Errorf("not a proper Status: %v", answer)
	}
	return nil
}

// send makes one request on a connection of its own, since a server may close after a refusal.
func send(t *testing.T, method, path, contentType string, body []byte) harness.Answer {
	t.Helper()
	conn := dial(t)
	defer conn.Close()
	answer, err := conn.Do(method, path, contentType, body)
	if err != nil {
		t.Fatalf("%s %.100s: %v", method, path, err)
	}
	return answer
}

// storeVersion is the newest version of anything in the store.
func storeVersion(t *testing.T) uint64 {
	t.Helper()
	list, err := dial(t).List()
	if err != nil {
		t.Fatal(err)
	}
	return list.Metadata.Version()
}

// unchanged runs a test that must store nothing and must not cost memory for good.
func unchanged(t *testing.T, test func()) {
	t.Helper()
	before, memory := storeVersion(t), resident(t)
	test()
	if after := storeVersion(t); after != before {
		t.Errorf("something was stored: version %d, then %d", before, after)
	}
	if growth := resident(t) - memory; growth > 64*mebibyte {
		t.Errorf("the server has grown by %d MiB", growth/mebibyte)
	}
}

func resident(t *testing.T) int64 {
	t.Helper()
	bytes, err := harness.Resident(server.Pid())
	if err != nil {
		t.Fatalf("the server is gone: %v", err)
	}
	return bytes
}
