module muster.dev/tests/examples/upstream

go 1.26.0

require sigs.k8s.io/jobset v0.8.2
