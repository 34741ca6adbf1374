package reliability

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster.test/reliability/harness"
)

const (
	diskSize      = 64 << 20
	freeSpace     = 2 << 20
	fullWriters   = 8
	recoverWithin = 10 * time.Second
)

// smallDisk mounts a file system of its own for the test.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize)); err != nil {
		t.Skipf("a full disk needs one to fill, and mounting is not permitted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill leaves only a little space on the disk.
func fill(t *testing.T, ballast string) {
	t.Helper()
	var disk syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(ballast), &disk); err != nil {
		t.Fatal(err)
	}
	free := int64(disk.Bavail)*disk.Bsize - freeSpace
	if err := os.WriteFile(ballast, make([]byte, free), 0o600); err != nil {
		t.Fatal(err)
	}
}

type diskWriter struct {
	acknowledged map[string]bool
	refused      int
}

// writeUntilRefused creates objects until the server has refused a few.
func (w *diskWriter) writeUntilRefused(conn *harness.Conn, id int) error {
	text := map[string]string{"text": strings.Repeat("x", 8000)}
	for n := 0; w.refused < 3; n++ {
		if n > 2*diskSize/8000 {
			return fmt.Errorf("%d writes and the disk is still not full", n)
		}
		name := fmt.Sprintf("full-%d-%d", id, n)
		answer, err := conn.Do("POST", harness.ConfigMaps, harness.JSON, harness.NewConfigMap(name, "", text).JSON())
		if err != nil {
			return err
		}
		if answer.Code == 201 {
			w.acknowledged[name] = true
			continue
		}
		status, err := harness.Decode[harness.Status](answer, 503, 507)
		if err != nil {
			return err
		}
		if !strings.Contains(strings.ToLower(status.Message), "space") && !strings.Contains(strings.ToLower(status.Message), "full") {
			return fmt.Errorf("the message does not say why: %q", status.Message)
		}
		w.refused++
	}
	return nil
}

func compareAcknowledged(t *testing.T, target harness.Target, writers []diskWriter) {
	t.Helper()
	list, err := dial(t, target).List()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, object := range list.Items {
		found[object.Metadata.Name] = true
	}
	count := 0
	for _, w := range writers {
		for name := range w.acknowledged {
			count++
			if !found[name] {
				t.Errorf("%s was acknowledged and is lost", name)
			}
		}
	}
	if count != len(found) {
		t.Errorf("%d objects were acknowledged, %d are there", count, len(found))
	}
}

// R3: a full disk refuses writes with the reason, serves reads, recovers when there is space again, and loses nothing.
func TestFullDiskRefusesWritesAndRecovers(t *testing.T) {
	disk := smallDisk(t)
	server, err := harness.Start(binary, filepath.Join(disk, "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { server.Kill() }()
	ballast := filepath.Join(disk, "ballast")
	writers := make([]diskWriter, fullWriters)
	for i := range writers {
		writers[i].acknowledged = map[string]bool{}
	}
	for cycle := range 3 {
		fill(t, ballast)
		inParallel(t, server.Target, fullWriters, func(i int, conn *harness.Conn) error {
			writers[i].refused = 0
			return writers[i].writeUntilRefused(conn, cycle*fullWriters+i)
		})
		if t.Failed() {
			t.FailNow()
		}
		compareAcknowledged(t, server.Target, writers)
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		conn := dial(t, server.Target)
		name := fmt.Sprintf("recovered-%d", cycle)
		for deadline := time.Now().Add(recoverWithin); ; time.Sleep(50 * time.Millisecond) {
			answer, err := conn.Do("POST", harness.ConfigMaps, harness.JSON, harness.NewConfigMap(name, "", nil).JSON())
			if err == nil && answer.Code == 201 {
				writers[0].acknowledged[name] = true
				break
			}
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("no recovery: %v %v", answer, err)
			}
		}
	}
	// Killed while the disk is full, it starts again, at the same address, and serves reads.
	fill(t, ballast)
	inParallel(t, server.Target, fullWriters, func(i int, conn *harness.Conn) error {
		writers[i].refused = 0
		return writers[i].writeUntilRefused(conn, 3*fullWriters+i)
	})
	server.Kill()
	again, err := harness.Start(binary, server.Dir, "--listen", server.Target.Address)
	if err != nil {
		t.Fatal(err)
	}
	server = again
	compareAcknowledged(t, server.Target, writers)
	inParallel(t, server.Target, fullWriters, func(i int, conn *harness.Conn) error {
		writers[i].refused = 0
		return writers[i].writeUntilRefused(conn, 4*fullWriters+i)
	})
	server.Kill()
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	again, err = harness.Start(binary, server.Dir)
	if err != nil {
		t.Fatal(err)
	}
	server = again
	compareAcknowledged(t, server.Target, writers)
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	if err := harness.Check(binary, server.Dir); err != nil {
		t.Error(err)
	}
}
