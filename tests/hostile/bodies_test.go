package hostile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"muster.test/reliability/harness"
)

const (
	yaml     = "application/yaml"
	protobuf = "application/vnd.kubernetes.protobuf"
	jobs     = "/apis/batch/v1/namespaces/default/jobs"
)

func nested(depth int, open, end string) string {
	return strings.Repeat(open, depth) + strings.Repeat(end, depth)
}

func configMap(data string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"hostile"},"data":` + data + `}`
}

func job(spec string) string {
	return `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"hostile"},"spec":` + spec + `}`
}

// laughs is the YAML bomb of CVE-2019-11253: each line names the one before nine times.
func laughs() string {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hostile}\ndata:\n  a0: &a0 [lol]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&text, "  a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	return text.String()
}

type body struct {
	name, path, contentType, text string
	code                          int
}

var bodies = []body{
	{"nothing", harness.ConfigMaps, harness.JSON, "", 400},
	{"null", harness.ConfigMaps, harness.JSON, "null", 400},
	{"an array", harness.ConfigMaps, harness.JSON, "[]", 400},
	{"a string", harness.ConfigMaps, harness.JSON, `"x"`, 400},
	{"a number", harness.ConfigMaps, harness.JSON, "1", 400},
	{"no name", harness.ConfigMaps, harness.JSON, "{}", 422},
	{"two objects", harness.ConfigMaps, harness.JSON, configMap("{}") + configMap("{}"), 400},
	{"10,000 arrays deep", harness.ConfigMaps, harness.JSON, configMap(`{"a":` + nested(10_000, "[", "]") + "}"), 400},
	{"10,000 objects deep", harness.ConfigMaps, harness.JSON, configMap(nested(10_000, `{"a":`, "}")), 400},
	{"a million brackets", harness.ConfigMaps, harness.JSON, strings.Repeat("[", 1_000_000), 400},
	{"not UTF-8", harness.ConfigMaps, harness.JSON, configMap("{\"a\":\"\xff\xfe\"}"), 400},
	{"not UTF-8 in a key", harness.ConfigMaps, harness.JSON, configMap("{\"\xc3\x28\":\"x\"}"), 400},
	{"overlong UTF-8", harness.ConfigMaps, harness.JSON, configMap("{\"a\":\"\xc0\xaf\"}"), 400},
	{"control characters", harness.ConfigMaps, harness.JSON, configMap("{\"a\":\"\x01\"}"), 400},
	{"data as array", harness.ConfigMaps, harness.JSON, configMap("[]"), 400},
	{"data of numbers", harness.ConfigMaps, harness.JSON, configMap(`{"a":1}`), 400},
	{"metadata as string", harness.ConfigMaps, harness.JSON, `{"apiVersion":"v1","kind":"ConfigMap","metadata":"x"}`, 400},
	{"kind as number", harness.ConfigMaps, harness.JSON, `{"apiVersion":"v1","kind":5,"metadata":{"name":"kind"}}`, 400},
	{"another kind", harness.ConfigMaps, harness.JSON, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`, 400},
	{"unknown field, strict", harness.ConfigMaps + "?fieldValidation=Strict", harness.JSON, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"dta":{}}`, 400},
	{"duplicate field, strict", harness.ConfigMaps + "?fieldValidation=Strict", harness.JSON, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1","a":"2"}}`, 400},
	{"a number too large", jobs, harness.JSON, job(`{"completions":99999999999999999999}`), 400},
	{"a number beyond all", jobs, harness.JSON, job(`{"completions":1e999999}`), 400},
	{"half a completion", jobs, harness.JSON, job(`{"completions":1.5}`), 400},
	{"a quantity of letters", jobs, harness.JSON, job(`{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"b","resources":{"limits":{"cpu":"` + strings.Repeat("9", 100_000) + `"}}}]}}}`), 400},
	{"base64 that is none", "/api/v1/namespaces/default/secrets", harness.JSON, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},"data":{"a":"@@@"}}`, 400},
	{"over 3 MiB", harness.ConfigMaps, harness.JSON, strings.Repeat(" ", 3*mebibyte+1), 413},
	{"a ConfigMap over 1 MiB", harness.ConfigMaps, harness.JSON, configMap(`{"a":"` + strings.Repeat("x", mebibyte+1) + `"}`), 422},
	{"unknown form", harness.ConfigMaps, "text/html", configMap("{}"), 415},
	{"a YAML bomb", harness.ConfigMaps, yaml, laughs(), 400},
	{"YAML that contains itself", harness.ConfigMaps, yaml, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hostile}\ndata: &a {x: *a}\n", 400},
	{"deep YAML", harness.ConfigMaps, yaml, "data: " + nested(10_000, "[", "]"), 400},
	{"deep block YAML", harness.ConfigMaps, yaml, strings.Repeat("- ", 10_000), 400},
	{"YAML tags", harness.ConfigMaps, yaml, "!!python/object/apply:os.system ['true']", 400},
	{"broken YAML", harness.ConfigMaps, yaml, "a: [b\nc: }", 400},
	{"protobuf without magic", harness.ConfigMaps, protobuf, "hello", 400},
	{"protobuf of nothing", harness.ConfigMaps, protobuf, "k8s\x00", 400},
	{"protobuf with an endless number", harness.ConfigMaps, protobuf, "k8s\x00" + strings.Repeat("\xff", 100), 400},
	{"protobuf with a length beyond the end", harness.ConfigMaps, protobuf, "k8s\x00\x0a\xff\xff\xff\xff\x0f", 400},
	{"protobuf, groups 10,000 deep", harness.ConfigMaps, protobuf, "k8s\x00" + strings.Repeat("\x0b", 10_000), 400},
}

func TestBodies(t *testing.T) {
	for _, b := range bodies {
		t.Run(b.name, func(t *testing.T) {
			unchanged(t, func() {
				if err := refusal(send(t, "POST", b.path, b.contentType, []byte(b.text)), b.code); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Every beginning of a good object is a bad one.
func TestTruncatedBodies(t *testing.T) {
	unchanged(t, func() {
		text := []byte(configMap(`{"key":"a \"value\" \u00e9 ü","other":""}`))
		conn := dial(t)
		for n := range text {
			answer, err := conn.Do("POST", harness.ConfigMaps, harness.JSON, text[:n])
			if err != nil {
				t.Fatal(err)
			}
			if err := refusal(answer, 400); err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	})
}

// message is a protobuf field of bytes.
func message(number byte, content ...[]byte) []byte {
	all := bytes.Join(content, nil)
	return append([]byte{number<<3 | 2, byte(len(all))}, all...)
}

// One byte of a protobuf object is changed, one after the other: the answer is an object or a Status, never anything else.
func TestDamagedProtobuf(t *testing.T) {
	unknown := bytes.Join([][]byte{
		message(1, message(1, []byte("v1")), message(2, []byte("ConfigMap"))),
		message(2, message(1, message(1, []byte("damaged"))), message(2, message(1, []byte("key")), message(2, []byte("value")))),
	}, nil)
	good := append([]byte("k8s\x00"), unknown...)
	conn := dial(t)
	dryRun := harness.ConfigMaps + "?dryRun=All"
	if answer, err := conn.Do("POST", dryRun, protobuf, good); err != nil || answer.Code != 201 {
		t.Fatal(answer, err)
	}
	unchanged(t, func() {
		random := harness.Random(harness.Seed(), 0)
		for n := range harness.Figure("DAMAGES", 3_000, 1_000_000) {
			bad := bytes.Clone(good)
			bad[n%len(bad)] = byte(random.Uint32())
			if n%3 == 0 {
				bad = bad[:random.IntN(len(bad))]
			}
			answer, err := conn.Do("POST", dryRun, protobuf, bad)
			if err != nil {
				t.Fatalf("%q: %v", bad, err)
			}
			if answer.Code != 201 {
				if err := refusal(answer, 400, 404, 409, 415, 422); err != nil {
					t.Fatalf("%q: %v", bad, err)
				}
			}
		}
	})
}
