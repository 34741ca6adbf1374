// Package harness starts servers and speaks to API servers as plainly as possible: HTTP/1.1 over TLS, one request at a time per
// connection, no pooling and no retries. What a test or a measurement sees is what the server did.
package harness

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"regexp"
)

// Target is an API server and the credentials to use there.
type Target struct {
	Address string // host:port
	TLS     *tls.Config
	Bearer  string // token, or empty if the TLS configuration has a client certificate
}

var kubeconfigField = regexp.MustCompile(`(server|certificate-authority-data|client-certificate-data|client-key-data|token): *"?([^",}\s]+)`)

// FromKubeconfig reads a kubeconfig with one cluster and one user, as `muster serve` and start.sh write it.
func FromKubeconfig(path string) (Target, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Target{}, err
	}
	fields := map[string]string{}
	for _, match := range kubeconfigField.FindAllStringSubmatch(string(text), -1) {
		fields[match[1]] = match[2]
	}
	decode := func(name string) []byte {
		bytes, _ := base64.StdEncoding.DecodeString(fields[name])
		return bytes
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(decode("certificate-authority-data")) {
		return Target{}, fmt.Errorf("%s: no certificate authority", path)
	}
	var address string
	if _, err := fmt.Sscanf(fields["server"], "https://%s", &address); err != nil {
		return Target{}, fmt.Errorf("%s: no server", path)
	}
	target := Target{Address: address, Bearer: fields["token"], TLS: &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}}
	if target.Bearer != "" {
		return target, nil
	}
	pair, err := tls.X509KeyPair(decode("client-certificate-data"), decode("client-key-data"))
	if err != nil {
		return Target{}, errors.Join(fmt.Errorf("%s: no credentials", path), err)
	}
	target.TLS.Certificates = []tls.Certificate{pair}
	return target, nil
}

// WithBearer is the same server, asked with a token instead of a client certificate.
func (t Target) WithBearer(token string) Target {
	config := t.TLS.Clone()
	config.Certificates = nil
	return Target{Address: t.Address, TLS: config, Bearer: token}
}
