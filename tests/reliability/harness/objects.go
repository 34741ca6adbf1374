package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// ConfigMaps is where the tests' objects live.
const ConfigMaps = "/api/v1/namespaces/default/configmaps"

const JSON = "application/json"

type Meta struct {
	Name            string `json:"name"`
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

func (m Meta) Version() uint64 {
	n, _ := strconv.ParseUint(m.ResourceVersion, 10, 64)
	return n
}

type ConfigMap struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   Meta              `json:"metadata"`
	Data       map[string]string `json:"data,omitempty"`
}

func NewConfigMap(name, version string, data map[string]string) ConfigMap {
	return ConfigMap{"v1", "ConfigMap", Meta{Name: name, ResourceVersion: version}, data}
}

func (m ConfigMap) JSON() []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return text
}

type ConfigMapList struct {
	Metadata Meta        `json:"metadata"`
	Items    []ConfigMap `json:"items"`
}

type Status struct {
	Kind    string `json:"kind"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Code    int    `json:"code"`
	Details struct {
		UID string `json:"uid"`
	} `json:"details"`
}

// Decode expects one of the codes and reads the body.
func Decode[T any](answer Answer, codes ...int) (T, error) {
	var value T
	for _, code := range codes {
		if answer.Code == code {
			return value, json.Unmarshal(answer.Body, &value)
		}
	}
	return value, fmt.Errorf("unexpected answer %v", answer)
}

// List returns all ConfigMaps of the tests' namespace.
func (c *Conn) List() (ConfigMapList, error) {
	answer, err := c.Get(ConfigMaps)
	if err != nil {
		return ConfigMapList{}, err
	}
	return Decode[ConfigMapList](answer, 200)
}

// Version finds the first resourceVersion in an object or event without decoding it; 0 if there is none.
func Version(text []byte) uint64 {
	n, _ := strconv.ParseUint(string(Field(text, `"resourceVersion":"`)), 10, 64)
	return n
}

// Field returns what stands between the first `prefix` and the next quote.
func Field(text []byte, prefix string) []byte {
	at := bytes.Index(text, []byte(prefix))
	if at < 0 {
		return nil
	}
	rest := text[at+len(prefix):]
	if end := bytes.IndexByte(rest, '"'); end >= 0 {
		return rest[:end]
	}
	return nil
}
