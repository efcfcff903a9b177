package app

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"appserver/protocol"
)

// testConfinement returns the confinement of a server in the home. Each probe takes its result from
// the channel.
func testConfinement(home, identity string) (c *confinement, results chan error) {
	results = make(chan error)
	c = newConfinement(home, zap.NewNop())
	c.checkDelay = 0
	c.probe = func() error { return <-results }
	c.identity = func() string { return identity }
	return c, results
}

func TestConfinementIsKeptForTheBoot(t *testing.T) {
	home := t.TempDir()
	c, results := testConfinement(home, "boot 1")
	c.prepare()
	results <- nil
	require.Equal(t, protocol.SandboxDiagnostics{Enforced: true}, c.diagnose())

	c, results = testConfinement(home, "boot 1")
	c.prepare()
	require.Equal(t, protocol.SandboxDiagnostics{Enforced: true}, c.diagnose(), "it does not wait for the probe")
	results <- nil
	require.True(t, c.probed().Enforced)
	require.True(t, c.diagnose().Enforced)
}

func TestConfinementOfAnotherBootIsProbed(t *testing.T) {
	for _, identity := range []string{"boot 2", ""} {
		home := t.TempDir()
		c, results := testConfinement(home, "boot 1")
		c.prepare()
		results <- nil
		require.True(t, c.probed().Enforced)

		c, results = testConfinement(home, identity)
		c.prepare()
		results <- errors.New("no namespaces")
		require.False(t, c.diagnose().Enforced, identity)
	}
}

// TestWrongKeptConfinementIsReplaced has a kernel that stops confining within a boot.
func TestWrongKeptConfinementIsReplaced(t *testing.T) {
	home := t.TempDir()
	c, results := testConfinement(home, "boot 1")
	c.prepare()
	results <- nil
	require.True(t, c.probed().Enforced)
	require.FileExists(t, c.file)

	c, results = testConfinement(home, "boot 1")
	require.True(t, c.diagnose().Enforced)
	results <- errors.New("no namespaces")
	require.Contains(t, *c.probed().Reason, "no namespaces")
	require.False(t, c.diagnose().Enforced)
	require.NoFileExists(t, c.file)
}

func TestFailedProbeIsNotKept(t *testing.T) {
	home := t.TempDir()
	c, results := testConfinement(home, "boot 1")
	c.prepare()
	results <- errors.New("no namespaces")
	require.False(t, c.diagnose().Enforced)
	require.NoFileExists(t, c.file)

	c, results = testConfinement(home, "boot 1")
	c.prepare()
	results <- nil
	require.True(t, c.diagnose().Enforced)
}

// TestForgedConfinementOfAnUnknownMachineIsIgnored has no identity, which an empty file would equal.
func TestForgedConfinementOfAnUnknownMachineIsIgnored(t *testing.T) {
	c, results := testConfinement(t.TempDir(), "")
	require.NoError(t, os.MkdirAll(filepath.Dir(c.file), 0o700))
	require.NoError(t, os.WriteFile(c.file, nil, 0o600))
	c.prepare()
	results <- errors.New("no namespaces")
	require.False(t, c.diagnose().Enforced)
}
