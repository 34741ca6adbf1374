package harness

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
	"time"
)

// Timeout bounds every request and every wait for the next event of a watch.
var Timeout = 60 * time.Second

const dialTimeout = 20 * time.Second

// Conn is one keep-alive connection; not for concurrent use.
type Conn struct {
	tls    *tls.Conn
	in     *bufio.Reader
	out    []byte
	body   []byte
	common string
	closed bool // the server said it closes after its answer
}

// Answer is what a server said. Body is valid until the next request on the connection.
type Answer struct {
	Code int
	Body []byte
}

func (a Answer) String() string {
	return fmt.Sprintf("%d %.300s", a.Code, a.Body)
}

func (t Target) Dial() (*Conn, error) {
	raw, err := net.DialTimeout("tcp", t.Address, dialTimeout)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, t.TLS)
	conn.SetDeadline(time.Now().Add(dialTimeout))
	if err := conn.Handshake(); err != nil {
		raw.Close()
		return nil, err
	}
	common := " HTTP/1.1\r\nHost: " + t.Address + "\r\nAccept: application/json\r\nUser-Agent: harness\r\n"
	if t.Bearer != "" {
		common += "Authorization: Bearer " + t.Bearer + "\r\n"
	}
	return &Conn{tls: conn, in: bufio.NewReaderSize(conn, 16<<10), common: common}, nil
}

func (c *Conn) Close() { c.tls.Close() }

// Raw is the TLS connection itself, to send what no well-behaved client would.
func (c *Conn) Raw() *tls.Conn { return c.tls }

// Do sends one request and reads the whole answer.
func (c *Conn) Do(method, path, contentType string, body []byte) (Answer, error) {
	if err := c.send(method, path, contentType, body); err != nil {
		return Answer{}, err
	}
	return c.ReadAnswer()
}

func (c *Conn) Get(path string) (Answer, error) { return c.Do("GET", path, "", nil) }

func (c *Conn) send(method, path, contentType string, body []byte) error {
	if c.closed {
		return errors.New("the server has closed this connection")
	}
	c.out = append(append(append(c.out[:0], method...), ' '), path...)
	c.out = append(c.out, c.common...)
	if contentType != "" {
		c.out = append(append(append(c.out, "Content-Type: "...), contentType...), "\r\n"...)
	}
	if body != nil || method == "POST" || method == "PUT" || method == "PATCH" {
		c.out = append(strconv.AppendInt(append(c.out, "Content-Length: "...), int64(len(body)), 10), "\r\n"...)
	}
	c.out = append(append(c.out, "\r\n"...), body...)
	c.tls.SetDeadline(time.Now().Add(Timeout))
	_, err := c.tls.Write(c.out)
	return err
}

// ReadAnswer reads the answer to a request that was sent by hand.
func (c *Conn) ReadAnswer() (Answer, error) {
	code, length, err := c.readHead()
	if err != nil {
		return Answer{}, err
	}
	if length >= 0 {
		if cap(c.body) < length {
			c.body = make([]byte, length)
		}
		c.body = c.body[:length]
		_, err = io.ReadFull(c.in, c.body)
		return Answer{code, c.body}, err
	}
	buffer := bytes.NewBuffer(c.body[:0])
	if _, err = buffer.ReadFrom(httputil.NewChunkedReader(c.in)); err != nil {
		return Answer{}, err
	}
	c.body = buffer.Bytes()
	_, err = c.in.Discard(2) // no trailers: the empty line that ends them
	return Answer{code, c.body}, err
}

// readHead returns the length of the body, or -1 if it comes in chunks.
func (c *Conn) readHead() (code, length int, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, 0, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, 0, fmt.Errorf("not an answer: %.80q", line)
	}
	if code, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, 0, err
	}
	for {
		line, err = c.in.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return code, length, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			length, err = strconv.Atoi(string(value))
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			length = -1
		case bytes.EqualFold(name, []byte("connection")):
			c.closed = bytes.EqualFold(value, []byte("close"))
		}
		if err != nil {
			return 0, 0, err
		}
	}
}

// Stream is a watch under way.
type Stream struct {
	conn  *Conn
	lines *bufio.Reader
	line  []byte
}

// Watch opens a stream of events. If the server refuses, the stream is nil and the answer says why.
func (c *Conn) Watch(path string) (*Stream, Answer, error) {
	if err := c.send("GET", path, "", nil); err != nil {
		return nil, Answer{}, err
	}
	code, length, err := c.readHead()
	if err != nil {
		return nil, Answer{}, err
	}
	if length < 0 && code == 200 {
		return &Stream{conn: c, lines: bufio.NewReaderSize(httputil.NewChunkedReader(c.in), 16<<10)}, Answer{Code: code}, nil
	}
	c.closed = true
	body := make([]byte, max(length, 0))
	_, err = io.ReadFull(c.in, body)
	return nil, Answer{code, body}, err
}

// Next returns the next event, one line of JSON, valid until the following call.
func (s *Stream) Next() ([]byte, error) {
	if s.lines.Buffered() == 0 {
		s.conn.tls.SetReadDeadline(time.Now().Add(Timeout))
	}
	line, err := s.lines.ReadSlice('\n')
	if err == nil {
		return line, nil
	}
	s.line = s.line[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		s.line = append(s.line, line...)
		line, err = s.lines.ReadSlice('\n')
	}
	s.line = append(s.line, line...)
	return s.line, err
}
