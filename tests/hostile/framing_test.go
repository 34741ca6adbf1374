package hostile

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"muster.test/reliability/harness"
)

// raw sends bytes and returns everything that comes back until the server closes.
func raw(t *testing.T, text string) string {
	t.Helper()
	conn := dial(t).Raw()
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Logf("while sending: %v", err) // the server may answer and close before it has everything
	}
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(conn); err != nil && !errors.Is(err, io.EOF) && answer.Len() == 0 {
		t.Fatalf("no answer: %v", err)
	}
	return answer.String()
}

// request makes a raw POST of a ConfigMap with the given headers and body.
func request(headers, body string) string {
	return "POST " + harness.ConfigMaps + " HTTP/1.1\r\nHost: " + server.Target.Address + "\r\nAuthorization: Bearer " + server.Target.Bearer +
		"\r\nContent-Type: application/json\r\n" + headers + "\r\n" + body
}

func framings() map[string]string {
	good := configMap("{}")
	chunk := "9a\r\n" + strings.Repeat("x", 0x9a) + "\r\n"
	smuggled := "0\r\n\r\nDELETE /api/v1/namespaces/default HTTP/1.1\r\nHost: " + server.Target.Address + "\r\nAuthorization: Bearer " + server.Target.Bearer + "\r\n\r\n"
	return map[string]string{
		"both Content-Length and chunked": request("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", smuggled),
		"chunked, then Content-Length":    request("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", smuggled),
		"two lengths":                     request("Content-Length: 4\r\nContent-Length: 5\r\n", smuggled),
		"a list of lengths":               request("Content-Length: 4, 5\r\n", smuggled),
		"negative length":                 request("Content-Length: -1\r\n", good),
		"length with sign":                request("Content-Length: +4\r\n", smuggled),
		"length in hexadecimal":           request("Content-Length: 0x10\r\n", good),
		"length beyond 64 bits":           request("Content-Length: 99999999999999999999999\r\n", good),
		"length of words":                 request("Content-Length: many\r\n", good),
		"unknown coding":                  request("Transfer-Encoding: gzip\r\n", good),
		"chunked twice":                   request("Transfer-Encoding: chunked, chunked\r\n", smuggled),
		"coding with a tab":               request("Transfer-Encoding:\x0bchunked\r\n", smuggled),
		"chunk size of words":             request("Transfer-Encoding: chunked\r\n", "zz\r\nabc\r\n0\r\n\r\n"),
		"chunk size beyond 64 bits":       request("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n"),
		"chunk without its end":           request("Transfer-Encoding: chunked\r\n", "4\r\nabcdefgh\r\n0\r\n\r\n"),
		"chunks over 3 MiB":               request("Transfer-Encoding: chunked\r\n", strings.Repeat(chunk, 3*mebibyte/0x9a+2)+"0\r\n\r\n"),
		"endless chunk extension":         request("Transfer-Encoding: chunked\r\n", "4;"+strings.Repeat("x", 100_000)+"\r\nabcd\r\n0\r\n\r\n"),
		"space before the colon":          request("Content-Length : 4\r\n", smuggled),
		"header without colon":            request("nonsense\r\n", ""),
		"zero byte in a header":           request("X-A: \x00\r\n", ""),
		"lone line feed in a header":      request("X-A: b\nContent-Length: 4\r\n", smuggled),
		"200 KiB of headers":              request(strings.Repeat("X-A: "+strings.Repeat("b", 1000)+"\r\n", 200), ""),
		"10,000 headers":                  request(strings.Repeat("A: b\r\n", 10_000), ""),
		"two hosts":                       request("Host: other\r\n", ""),
		"no host":                         "GET / HTTP/1.1\r\n\r\n",
		"someone else's host":             "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"no request":                      "\x00\x01\x02\x03\r\n\r\n",
		"HTTP/2":                          "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"HTTP/9":                          "GET / HTTP/9.9\r\nHost: " + server.Target.Address + "\r\n\r\n",
		"full address as target":          "GET http://evil.example/ HTTP/1.1\r\nHost: " + server.Target.Address + "\r\n\r\n",
		"a tunnel":                        "CONNECT evil.example:443 HTTP/1.1\r\nHost: " + server.Target.Address + "\r\n\r\n",
		"endless method":                  strings.Repeat("A", 100_000) + " / HTTP/1.1\r\n\r\n",
		"endless target":                  "GET /" + strings.Repeat("a", 200_000) + " HTTP/1.1\r\nHost: " + server.Target.Address + "\r\n\r\n",
	}
}

var refusedFraming = regexp.MustCompile(`^HTTP/1\.1 (4\d\d|501|505) `) // 501: a coding, 505: a version that it does not know

// What is not clearly one request is refused once, and the connection ends: nothing is left to be taken for a second request.
func TestFraming(t *testing.T) {
	for name, text := range framings() {
		t.Run(name, func(t *testing.T) {
			unchanged(t, func() {
				answer := raw(t, text)
				if !refusedFraming.MatchString(answer) {
					t.Errorf("answered with %.300q", answer)
				}
				if n := strings.Count(answer, "HTTP/1.1 "); n != 1 {
					t.Errorf("%d answers: %.600q", n, answer)
				}
			})
		})
	}
}

// A body that ends before its length, or in the middle of a chunk, is never taken for a whole one.
func TestBodyCutOff(t *testing.T) {
	good := configMap("{}")
	unchanged(t, func() {
		for _, text := range []string{request("Content-Length: 1000\r\n", good), request("Transfer-Encoding: chunked\r\n", "ffff\r\n"+good)} {
			conn := dial(t).Raw()
			if _, err := io.WriteString(conn, text); err != nil {
				t.Fatal(err)
			}
			conn.Close()
		}
		time.Sleep(100 * time.Millisecond)
	})
}
