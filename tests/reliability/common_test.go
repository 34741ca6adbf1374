package reliability

import (
	"path/filepath"
	"sync"
	"testing"

	"muster.test/reliability/harness"
)

var binary = harness.Binary("../..")

// serve starts a server for one test on a fresh directory.
func serve(t *testing.T) *harness.Server {
	t.Helper()
	server, err := harness.Start(binary, filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Errorf("the server ended badly: %v", err)
		}
		if err := harness.Check(binary, server.Dir); err != nil {
			t.Error(err)
		}
	})
	return server
}

func dial(t *testing.T, target harness.Target) *harness.Conn {
	t.Helper()
	conn, err := target.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// inParallel runs one function per number below n, each on its own connection, and reports the first error of each.
func inParallel(t *testing.T, target harness.Target, n int, run func(i int, conn *harness.Conn) error) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Add(1)
		go func() {
			defer all.Done()
			conn, err := target.Dial()
			if err == nil {
				defer conn.Close()
				err = run(i, conn)
			}
			if err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		}()
	}
	all.Wait()
}
