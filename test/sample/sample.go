// Package sample selects the tests and the cases of a run.
package sample

import (
	"flag"
	"os"
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

// Stride returns the distance between the cases of a sweep: short with -short, else APPSERVER_TEST_STRIDE of the
// environment, or 1.
func Stride(short int) int {
	if testing.Short() {
		return short
	}
	stride, _ := strconv.Atoi(os.Getenv("APPSERVER_TEST_STRIDE"))
	return min(max(stride, 1), short)
}
