package hostile

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster.test/reliability/harness"
)

// muster runs the command with a TMPDIR of its own and returns it started, its errors as they come, and that directory.
func muster(t *testing.T, arguments ...string) (*exec.Cmd, *bytes.Buffer, string) {
	t.Helper()
	command, errors := exec.Command(harness.Binary("../.."), arguments...), &bytes.Buffer{}
	temporary := t.TempDir()
	command.Env = append(os.Environ(), "TMPDIR="+temporary)
	command.Stderr = errors
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command, errors, temporary
}

// exit waits for a command that must end by itself; a signal that kills it is -1.
func exit(t *testing.T, command *exec.Cmd) int {
	t.Helper()
	timer := time.AfterFunc(30*time.Second, func() { command.Process.Kill() })
	defer timer.Stop()
	command.Wait()
	return command.ProcessState.ExitCode()
}

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "set.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func empty(t *testing.T, directory string) {
	t.Helper()
	if left, err := os.ReadDir(directory); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

const sleeper = `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: sleeper}
spec:
  replicatedJobs:
  - name: w
    template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, command: [sleep, "600"]}]}}}}
`

var files = []struct{ name, text, complaint string }{
	{"nothing", "", "there is no object"},
	{"a list", "- a", "there is no kind"},
	{"a number", "5", "there is no kind"},
	{"a bomb", laughs(), "excessive aliasing"},
	{"a zero byte", "a: b\x00c", "control characters"},
	{"no end", "a: [b", "unexpected end"},
	{"no name", strings.Replace(sleeper, "name: sleeper", "labels: {}", 1), "metadata.name"},
	{"metadata of a number", strings.Replace(sleeper, "{name: sleeper}", "5", 1), "cannot unmarshal number"},
	{"no namespace", strings.Replace(sleeper, "name: sleeper", "name: sleeper, namespace: No_Where", 1), `Namespace "No_Where" is invalid`},
	{"two sets", sleeper + "---\n" + sleeper, "two JobSets"},
}

// A file that is no JobSet is refused with the reason, and the private server ends in order.
func TestRunRefusesBadFiles(t *testing.T) {
	for _, f := range files {
		t.Run(f.name, func(t *testing.T) {
			command, errors, temporary := muster(t, "run", file(t, f.text))
			if code := exit(t, command); code != 1 || !strings.Contains(errors.String(), f.complaint) {
				t.Errorf("exit code %d: %s", code, errors)
			}
			empty(t, temporary)
		})
	}
}

// A signal at any moment, also while the private server starts, ends it in order.
func TestRunIsInterrupted(t *testing.T) {
	set := file(t, sleeper)
	for n := range 24 {
		signal := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}[n%3]
		command, errors, temporary := muster(t, "run", set)
		time.Sleep(20*time.Millisecond + time.Duration(n)*15*time.Millisecond)
		command.Process.Signal(signal)
		code := exit(t, command)
		early := code == -1 && command.ProcessState.Sys().(syscall.WaitStatus).Signal() == signal // before it could say otherwise
		if code != 128+int(signal) && !early {
			t.Errorf("%v: exit code %d: %v %s", signal, code, command.ProcessState, errors)
		}
		empty(t, temporary)
	}
}

// Two servers that start at once in a new directory: one serves, and its keys belong together.
func TestTwoServersInOneDirectory(t *testing.T) {
	for range 10 {
		directory := filepath.Join(t.TempDir(), "data")
		var served, refused int
		var all sync.WaitGroup
		var mutex sync.Mutex
		for range 3 {
			all.Add(1)
			go func() {
				defer all.Done()
				server, err := harness.Start(harness.Binary("../.."), directory)
				mutex.Lock()
				defer mutex.Unlock()
				if err != nil {
					refused++
					return
				}
				served++
				defer server.Kill()
				conn, err := server.Target.Dial()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				if answer, err := conn.Get(harness.ConfigMaps); err != nil || answer.Code != 200 {
					t.Error(answer, err)
				}
			}()
		}
		all.Wait()
		if served == 0 || served+refused != 3 {
			t.Errorf("%d serve, %d are refused", served, refused)
		}
	}
}
