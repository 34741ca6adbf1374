package harness

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const startTimeout = 30 * time.Second

var withoutControllers = []string{"--controllers", "none"}

// Binary is the muster under test: $MUSTER, or the release build of the tree that the caller is `up` folders deep in.
func Binary(up string) string {
	if path := os.Getenv("MUSTER"); path != "" {
		return path
	}
	path, _ := filepath.Abs(filepath.Join(up, "build/release/muster"))
	return path
}

// Server is a `muster serve` that we started.
type Server struct {
	Target Target
	Dir    string
	Ready  time.Duration // from the start of the process to the line that says so
	Log    string        // the file with its standard error
	binary string
	cmd    *exec.Cmd
}

// Start serves `dir` without controllers and returns when the server is ready. The log is kept in dir + ".log".
func Start(binary, dir string, args ...string) (*Server, error) {
	return StartWith(binary, dir, append(withoutControllers, args...)...)
}

// StartWith is Start with all flags but the directory said by the caller.
func StartWith(binary, dir string, args ...string) (*Server, error) {
	server, lines, err := launch(binary, dir, args...)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	select {
	case line := <-lines:
		server.Ready = time.Since(begun)
		if err := server.setTarget(line); err != nil {
			server.Kill()
			return nil, err
		}
		return server, nil
	case <-time.After(startTimeout):
		server.Kill()
		return nil, fmt.Errorf("not ready after %v", startTimeout)
	}
}

// StartAndKill starts a server and ends it after a while, ready or not.
func StartAndKill(binary, dir string, after time.Duration, args ...string) error {
	server, _, err := launch(binary, dir, append(withoutControllers, args...)...)
	if err != nil {
		return err
	}
	time.Sleep(after)
	server.Kill()
	return nil
}

func launch(binary, dir string, args ...string) (*Server, <-chan string, error) {
	server := &Server{Dir: dir, Log: dir + ".log", binary: binary}
	log, err := os.OpenFile(server.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	server.cmd = exec.Command(binary, append([]string{"serve", "--data-dir", dir}, args...)...)
	server.cmd.Stderr = log
	server.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := server.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := server.cmd.Start(); err != nil {
		return nil, nil, err
	}
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		lines <- line
	}()
	return server, lines, nil
}

func (s *Server) setTarget(line string) error {
	var address string
	if _, err := fmt.Sscanf(line, "muster serves https://%s", &address); err != nil {
		log, _ := os.ReadFile(s.Log)
		return fmt.Errorf("did not become ready: %q %s", line, tail(string(log)))
	}
	target, err := FromKubeconfig(filepath.Join(s.Dir, "kubeconfig"))
	if err != nil {
		return err
	}
	tokens, err := os.ReadFile(filepath.Join(s.Dir, "tokens"))
	if err != nil {
		return err
	}
	token, _, _ := strings.Cut(string(tokens), ",")
	s.Target = target.WithBearer(token) // cheaper to connect with than a certificate
	if s.Target.Address != address {
		return fmt.Errorf("kubeconfig says %s, the server %s", s.Target.Address, address)
	}
	return nil
}

func tail(text string) string {
	return text[max(0, len(text)-600):]
}

// Kill ends the server as a power cut would end it, as far as the process goes.
func (s *Server) Kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// Stop asks the server to end and reports how it did.
func (s *Server) Stop() error {
	s.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(startTimeout, func() { s.cmd.Process.Kill() })
	defer timer.Stop()
	return s.cmd.Wait()
}

func (s *Server) Pid() int { return s.cmd.Process.Pid }

// Check runs `muster check` over a directory that is not served.
func Check(binary, dir string) error {
	out, err := exec.Command(binary, "check", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("muster check: %w: %s", err, out)
	}
	return nil
}
