package hostile

import (
	"fmt"
	"strings"
	"testing"

	"muster.test/reliability/harness"
)

const (
	jsonPatch      = "application/json-patch+json"
	mergePatch     = "application/merge-patch+json"
	strategicPatch = "application/strategic-merge-patch+json"
	applyPatch     = "application/apply-patch+yaml"
)

// operations repeats one operation of a JSON patch.
func operations(n int, one string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]"
}

// doubling copies an object into itself, again and again: 2^n times its size if nobody looks.
func doubling(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"op":"copy","from":"/data","path":"/data/x%d"},`, i)
	}
	return "[" + strings.TrimSuffix(text.String(), ",") + "]"
}

// Where 500 is expected, kube-apiserver answers so, too.
var patches = []struct {
	name, contentType, text string
	codes                   []int
}{
	{"nothing", jsonPatch, "", []int{400}},
	{"not a list", jsonPatch, "{}", []int{400}},
	{"unknown operation", jsonPatch, `[{"op":"explode","path":"/data"}]`, []int{400, 422}},
	{"no path", jsonPatch, `[{"op":"add","value":1}]`, []int{400, 422}},
	{"path that leads nowhere", jsonPatch, `[{"op":"remove","path":"/a/b/c"}]`, []int{422}},
	{"path without slash", jsonPatch, `[{"op":"remove","path":"data"}]`, []int{400, 422}},
	{"index beyond the end", jsonPatch, `[{"op":"add","path":"/metadata/managedFields/99999999999999999999","value":{}}]`, []int{400, 422}},
	{"negative index", jsonPatch, `[{"op":"add","path":"/metadata/managedFields/-9","value":{}}]`, []int{400, 422}},
	{"10,001 operations", jsonPatch, operations(10_001, `{"op":"add","path":"/data/a","value":"x"}`), []int{413}},
	{"copies that double", jsonPatch, doubling(64), []int{400, 413, 422}},
	{"the whole object replaced", jsonPatch, `[{"op":"replace","path":"","value":[]}]`, []int{400, 422}},
	{"deep value", jsonPatch, `[{"op":"add","path":"/data/a","value":` + nested(10_000, "[", "]") + `}]`, []int{400}},
	{"merge with an array", mergePatch, `[]`, []int{400}},
	{"merge with null", mergePatch, `null`, []int{400}},
	{"merge 10,000 deep", mergePatch, nested(10_000, `{"a":`, "}"), []int{400}},
	{"merge of another name", mergePatch, `{"metadata":{"name":"other"}}`, []int{400, 422}},
	{"merge of another kind", mergePatch, `{"kind":"Pod"}`, []int{422}},
	{"merge of another version", mergePatch, `{"apiVersion":"v9"}`, []int{422}},
	{"another kind by JSON patch", jsonPatch, `[{"op":"replace","path":"/kind","value":"Secret"}]`, []int{422}},
	{"merge of wrong types", mergePatch, `{"data":{"a":{"b":[]}}}`, []int{400, 422}},
	{"strategic with odd directive", strategicPatch, `{"data":{"$patch":"explode"}}`, []int{500}},
	{"strategic with odd order", strategicPatch, `{"$setElementOrder/data":7}`, []int{500}},
	{"apply without manager", applyPatch, configMap("{}"), []int{422}},
	{"unknown form", "application/x-patch", "{}", []int{415}},
}

func TestPatches(t *testing.T) {
	object := harness.NewConfigMap("patched", "", map[string]string{"a": strings.Repeat("x", 1000)})
	if answer := send(t, "POST", harness.ConfigMaps, harness.JSON, object.JSON()); answer.Code != 201 {
		t.Fatal(answer)
	}
	for _, p := range patches {
		t.Run(p.name, func(t *testing.T) {
			unchanged(t, func() {
				if err := refusal(send(t, "PATCH", harness.ConfigMaps+"/patched", p.contentType, []byte(p.text)), p.codes...); err != nil {
					t.Error(err)
				}
			})
		})
	}
	t.Run("apply of a YAML bomb", func(t *testing.T) {
		unchanged(t, func() {
			answer := send(t, "PATCH", harness.ConfigMaps+"/hostile?fieldManager=test", applyPatch, []byte(laughs()))
			if err := refusal(answer, 400); err != nil {
				t.Error(err)
			}
		})
	})
}
