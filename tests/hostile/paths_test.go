package hostile

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster.test/reliability/harness"
)

var names = []string{"..", ".", "../../../../etc/passwd", "a/b", "a%2fb", "-", "A", "a..b-", "a_b", "a b", "ü", "a\x00b", "<script>", strings.Repeat("a", 254), "a\n", "a?b", "a;b"}

// Names are no paths: one that could be taken for something else is refused, however it is sent.
func TestNames(t *testing.T) {
	unchanged(t, func() {
		for _, name := range names {
			object := harness.NewConfigMap(name, "", nil)
			if err := refusal(send(t, "POST", harness.ConfigMaps, harness.JSON, object.JSON()), 400, 422); err != nil {
				t.Errorf("%.40q in the body: %v", name, err)
			}
			path := harness.ConfigMaps + "/" + url.PathEscape(name)
			if err := refusal(send(t, "GET", path, "", nil), 400, 404); err != nil {
				t.Errorf("%.40q in the path: %v", name, err)
			}
			if err := refusal(send(t, "PUT", path, harness.JSON, object.JSON()), 400, 404, 405, 422); err != nil {
				t.Errorf("put of %.40q: %v", name, err)
			}
			namespace := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name)
			if err := refusal(send(t, "POST", "/api/v1/namespaces", harness.JSON, []byte(namespace)), 400, 422); err != nil {
				t.Errorf("namespace %.40q: %v", name, err)
			}
		}
	})
	entries, err := os.ReadDir(filepath.Dir(server.Dir))
	if err != nil || len(entries) != 2 { // the data directory and the log
		t.Errorf("files beside the data directory: %v %v", entries, err)
	}
}

var targets = []string{"/", "//", "/..", "/../../etc/passwd", "/api/../api/v1/pods", "/%2e%2e/%2e%2e", "/api/v1/namespaces/default/configmaps/a/b/c/d",
	"/api/v1//pods", "/apis/nosuch/v1/things", "/api/v9/pods", "/api/v1/nosuch", "/api/v1/namespaces//configmaps", "/" + strings.Repeat("a/", 10_000),
	"/%00", "/%ff%fe", "/%", "/%zz", "/api/v1/pods%", "/?%zz", "/api/v1/namespaces/default/pods/x/nosuch", "/api/v1/watch/nosuch"}

func TestPaths(t *testing.T) {
	unchanged(t, func() {
		for _, target := range targets {
			for _, method := range []string{"GET", "POST", "DELETE"} {
				answer := send(t, method, target, "", nil)
				if answer.Code >= 500 || (answer.Code >= 200 && answer.Code < 400 && target != "/" && method != "GET") {
					t.Errorf("%s %.60q: %v", method, target, answer)
				}
			}
		}
	})
}

var queries = []struct {
	query string
	codes []int
}{
	{"limit=abc", []int{400}},
	{"limit=99999999999999999999", []int{400}},
	{"continue=garbage&limit=5", []int{400}},
	{"continue=" + strings.Repeat("A", 8000) + "&limit=5", []int{400}},
	{"resourceVersion=abc", []int{400}},
	{"resourceVersion=-1", []int{400}},
	{"resourceVersion=99999999999999999999", []int{400}},
	{"resourceVersionMatch=Sometimes&resourceVersion=1", []int{400, 422}},
	{"labelSelector=%28%28%28", []int{400}},
	{"labelSelector=a+in+%28", []int{400}},
	{"labelSelector=a%3D%3D%3Db", []int{400}},
	{"labelSelector=" + strings.Repeat("x", 300) + "%3Dy", []int{400}},
	{"fieldSelector=nosuch%3Dx", []int{400}},
	{"fieldSelector=%3D%3D", []int{400}},
	{"watch=true&timeoutSeconds=abc", []int{400}},
	{"watch=true&resourceVersion=abc", []int{500}}, // as kube-apiserver has it
	{"watch=true&sendInitialEvents=true", []int{400, 422}},
}

func TestQueries(t *testing.T) {
	unchanged(t, func() {
		for _, q := range queries {
			if err := refusal(send(t, "GET", harness.ConfigMaps+"?"+q.query, "", nil), q.codes...); err != nil {
				t.Errorf("%.60s: %v", q.query, err)
			}
		}
		for _, query := range []string{"dryRun=Some", "fieldValidation=Sometimes", "fieldManager=" + strings.Repeat("x", 200)} {
			if err := refusal(send(t, "POST", harness.ConfigMaps+"?"+query, harness.JSON, []byte(configMap("{}"))), 400, 422); err != nil {
				t.Errorf("%.60s: %v", query, err)
			}
		}
	})
}

// A selector as long as a request line may be is answered in good time, and a longer one is refused.
func TestHugeSelectors(t *testing.T) {
	values := func(n int) string {
		return "labelSelector=" + url.QueryEscape("a in ("+strings.TrimSuffix(strings.Repeat("v,", n), ",")+")")
	}
	terms := func(n int) string {
		return "labelSelector=" + strings.TrimSuffix(strings.Repeat("a%21%3Db%2C", n), "%2C")
	}
	for _, query := range []string{values(10_000), terms(5_000)} {
		if answer := send(t, "GET", harness.ConfigMaps+"?"+query, "", nil); answer.Code != 200 && refusal(answer, 400, 431) != nil {
			t.Errorf("%.60s: %v", query, answer)
		}
	}
	if err := refusal(send(t, "GET", harness.ConfigMaps+"?"+values(100_000), "", nil), 414, 431); err != nil {
		t.Error(err)
	}
}
