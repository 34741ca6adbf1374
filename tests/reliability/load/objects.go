package main

import (
	"fmt"
	"strings"
)

const (
	podsPath = "/api/v1/namespaces/default/pods"
	mapsPath = "/api/v1/namespaces/default/configmaps"
)

// pod is a worker of a training job as it is written in practice; the server stores about 4 kB.
func pod(name string) []byte {
	var env []string
	for i := range 7 {
		env = append(env, fmt.Sprintf(`{"name":"TRAINING_SETTING_%02d","value":"a value of ordinary length %02d"}`, i, i))
	}
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":{"app":"training","team":"research",`+
		`"jobset.sigs.k8s.io/jobset-name":"training","jobset.sigs.k8s.io/replicatedjob-name":"workers","batch.kubernetes.io/job-completion-index":"17"},`+
		`"annotations":{"example.com/checkpoint":"s3://bucket/checkpoints/run-000017/step-001000","example.com/owner":"someone@example.com"}},`+
		`"spec":{"restartPolicy":"Never","automountServiceAccountToken":false,"subdomain":"training","containers":[{"name":"worker","image":"registry.example.com/training/worker:1.2.3",`+
		`"command":["python3","-m","training.main"],"args":["--epochs=10","--batch-size=512","--learning-rate=0.001"],"env":[%s],`+
		`"ports":[{"containerPort":8080,"name":"metrics"},{"containerPort":29500,"name":"rendezvous"}],`+
		`"resources":{"limits":{"cpu":"8","memory":"32Gi"},"requests":{"cpu":"8","memory":"32Gi"}},`+
		`"volumeMounts":[{"name":"scratch","mountPath":"/scratch"},{"name":"settings","mountPath":"/etc/training"}]}],`+
		`"volumes":[{"name":"scratch","emptyDir":{}},{"name":"settings","configMap":{"name":"training"}}]}}`, name, strings.Join(env, ","))
}

func configMap(name string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"settings.yaml":%q}}`, name, strings.Repeat("key: value\n", 20))
}
