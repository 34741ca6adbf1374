package harness

import (
	"math/rand/v2"
	"os"
	"strconv"
	"time"
)

// Figure is how often a test does something: $MUSTER_<NAME> if set, `long` if $MUSTER_LONG is, `ci` otherwise.
func Figure(name string, ci, long int) int {
	if n, err := strconv.Atoi(os.Getenv("MUSTER_" + name)); err == nil {
		return n
	}
	if os.Getenv("MUSTER_LONG") != "" {
		return long
	}
	return ci
}

// Seed is where a test's random choices start: $MUSTER_SEED, or the time. Say it when a test fails.
func Seed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("MUSTER_SEED"), 10, 64); err == nil {
		return n
	}
	return uint64(time.Now().UnixNano())
}

// Random is the n-th independent stream of a seed.
func Random(seed uint64, n int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(n))) }
