module muster.dev/tests/jobset_e2e

go 1.26.0

godebug default=go1.26

require (
	github.com/Masterminds/semver/v3 v3.4.0 // indirect
	github.com/go-task/slim-sprig/v3 v3.0.0 // indirect
	github.com/google/pprof v0.0.0-20260402051712-545e8a4df936 // indirect
	github.com/onsi/ginkgo/v2 v2.28.3 // indirect
	golang.org/x/mod v0.35.0 // indirect
	golang.org/x/sync v0.20.0 // indirect
	golang.org/x/tools v0.44.0 // indirect
	sigs.k8s.io/jobset v0.12.0 // indirect
)

tool github.com/onsi/ginkgo/v2/ginkgo
