package hostile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster.test/reliability/harness"
)

const (
	pods      = "/api/v1/namespaces/default/pods"
	quickGoal = 5 * time.Second // looking at each pair of items took up to 40
)

// list repeats an item n times; %[1]d in it is its number.
func list(n int, item string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(item, i)
	}
	return "[" + strings.Join(items, ",") + "]"
}

func pod(spec string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"hostile"},"spec":{` + spec + `}}`
}

func containers(more string) string {
	return `"containers":[{"name":"c","image":"i"` + more + `}]`
}

// Lists as long as a body may be cost time in proportion to their length: a thread that answers one request holds up others.
func TestLongLists(t *testing.T) {
	for _, c := range []struct{ name, path, text string }{
		{"owners", harness.ConfigMaps, `{"metadata":{"name":"hostile","ownerReferences":` +
			list(20_000, `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u%[1]d"}`) + `}}`},
		{"variables that repeat", pods, pod(containers(`,"env":` + list(50_000, `{"name":"A","value":"%[1]d"}`)))},
		{"names with faults", pods, pod(containers(`,"env":` + list(50_000, `{"name":"=%[1]d"}`)))},
		{"volumes that repeat", pods, pod(containers("") + `,"volumes":` + list(50_000, `{"name":"v","hostPath":{"path":"/%[1]d"}}`))},
		{"mounts", pods, pod(containers(`,"volumeMounts":`+list(20_000, `{"name":"v%[1]d","mountPath":"/%[1]d"}`)) +
			`,"volumes":` + list(20_000, `{"name":"v%[1]d","emptyDir":{}}`))},
		{"constraints", pods, pod(containers("") + `,"topologySpreadConstraints":` +
			list(12_000, `{"maxSkew":1,"topologyKey":"k%[1]d","whenUnsatisfiable":"DoNotSchedule","labelSelector":{}}`))},
	} {
		t.Run(c.name, func(t *testing.T) {
			begun := time.Now()
			answer := send(t, "POST", c.path+"?dryRun=All", harness.JSON, []byte(c.text))
			if took := time.Since(begun); took > quickGoal {
				t.Errorf("took %v: %v", took, answer.Code)
			}
			if answer.Code != 201 && answer.Code != 422 {
				t.Error(answer)
			}
		})
	}
}
