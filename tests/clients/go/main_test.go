// Package clients proves that programs written with the official Go client work against muster: the typed client set with
// protobuf bodies, informers, the dynamic client and leader election.
package clients

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const patience = 60 * time.Second

// config points at the server of this run; tests copy it before they change anything.
var config *rest.Config

func TestMain(m *testing.M) {
	status, err := runWithServer(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// runWithServer starts $MUSTER without its agent, so that pods stay as the tests leave them, and ends it afterwards.
func runWithServer(m *testing.M) (int, error) {
	folder, err := os.MkdirTemp("", "muster-clients-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	kubeconfig := filepath.Join(folder, "kubeconfig")
	server := exec.Command(os.Getenv("MUSTER"), "serve", "--data-dir", filepath.Join(folder, "data"),
		"--controllers", "*,-agent", "--kubeconfig-out", kubeconfig)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := server.Start(); err != nil {
		return 0, fmt.Errorf("MUSTER must name the binary: %w", err)
	}
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	}()
	greeting, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !regexp.MustCompile(`serves https://`).MatchString(greeting) {
		return 0, fmt.Errorf("muster did not start: %q %v", greeting, err)
	}
	if config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
		return 0, err
	}
	config.QPS, config.Burst = 200, 200
	return m.Run(), nil
}

// protobufClient is the typed client set as Kubernetes' own components use it: bodies are sent as protobuf.
func protobufClient(t *testing.T) kubernetes.Interface {
	t.Helper()
	own := rest.CopyConfig(config)
	own.ContentType = runtime.ContentTypeProtobuf
	own.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(own)
	must(t, err)
	return client
}

// namespace makes a namespace for one test; it is deleted with all that is in it.
func namespace(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	made, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "clients-"}}, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		must(t, client.CoreV1().Namespaces().Delete(context.Background(), made.Name, metav1.DeleteOptions{}))
	})
	return made.Name
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("gave up waiting: %s", what)
		}
	}
}
