package index

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
)

func TestDiagnoseReportsTheState(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(r.path(1), thread("", "one"))
	r.put(r.path(2), thread("", "two"))
	path := r.file()
	require.Equal(t, protocol.IndexDiagnostics{State: "closed", Path: &path}, r.ix.Diagnose())
	require.NoFileExists(t, path, "it opens nothing")

	r.ix.mu.Lock()
	r.ix.updateLocked()
	building, sweeping := r.ix.Diagnose(), r.ix.sweeping // nor does it wait for the lock
	r.ix.mu.Unlock()
	require.Equal(t, "building", building.State)
	require.NotNil(t, building.Progress)
	require.Nil(t, building.Sessions)
	<-sweeping
	ready := func(sessions int64) {
		t.Helper()
		r.list(rollout.Query{})
		require.Equal(t, protocol.IndexDiagnostics{State: "ready", Path: &path, Sessions: &sessions}, r.ix.Diagnose())
	}
	ready(2)
	r.put(r.path(3), thread("", "three"))
	ready(3)
	require.NoError(t, os.Remove(r.path(1)))
	ready(2)
}

func TestDiagnoseReportsTheReasonForNoIndex(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NoError(t, os.MkdirAll(r.file(), 0o700))
	_, ok := r.ix.List(rollout.Query{})
	require.False(t, ok)
	r.ix.work.Wait()
	d := r.ix.Diagnose()
	require.Equal(t, "unavailable", d.State)
	require.Contains(t, *d.Reason, "is not a regular file")
	require.Nil(t, d.Progress)
	require.NoError(t, os.Remove(r.file()))
	r.ix.mu.Lock()
	r.ix.failed = begin // as if it had been left alone for long enough
	r.ix.mu.Unlock()
	r.list(rollout.Query{})
	require.Equal(t, "ready", r.ix.Diagnose().State)
	require.Nil(t, r.ix.Diagnose().Reason)
}
