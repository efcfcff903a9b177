// Package sample selects the tests and the cases of a run.
package sample

import (
	"flag"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Check calls prop with random cases. RAPID_SEED, RAPID_CHECKS and RAPID_STEPS in the environment
// are the defaults of rapid's flags. A command that tests all packages cannot have these flags,
// because the other packages reject them.
func Check(t *testing.T, prop func(*rapid.T)) {
	t.Helper()
	require.NoError(t, readDefaults())
	rapid.Check(t, prop)
}

var readDefaults = sync.OnceValue(func() error {
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for _, name := range []string{"rapid.seed", "rapid.checks", "rapid.steps"} {
		value := os.Getenv(strings.ToUpper(strings.ReplaceAll(name, ".", "_")))
		if value == "" || given[name] {
			continue
		}
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	return nil
})

// Long skips a test that takes long, unless all tests run.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes long; make test-all runs it")
	}
}

// Racing reports whether the race detector watches the tests.
var Racing = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

// NoRace skips a test in a short run with the race detector, which makes it several times slower. It is for tests with
// one goroutine, sweeps that repeat one scenario hundreds of times, and tests that move hundreds of megabytes.
func NoRace(t testing.TB) {
	t.Helper()
	if Racing && testing.Short() {
		t.Skip("it is slow with the race detector, which would find nothing; make race runs it without -short")
	}
}

// NotPosix skips a test in programs with the tag posix. It needs a sandbox, for which that code has no program here,
// or a process that only the supervisor of Linux finds.
func NotPosix(t testing.TB) {
	t.Helper()
	if posix {
		t.Skip("it needs what commands have on Linux only")
	}
}

// Stride returns the distance between the cases of a sweep: short with -short, else APPSERVER_TEST_STRIDE of the
// environment, or 1.
func Stride(short int) int {
	if testing.Short() {
		return short
	}
	stride, _ := strconv.Atoi(os.Getenv("APPSERVER_TEST_STRIDE"))
	return min(max(stride, 1), short)
}
