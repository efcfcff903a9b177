// Package snapshottest copies values by a snapshot, for tests.
package snapshottest

import (
	"bytes"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/snapshot"
)

// Copy writes a snapshot and reads it. Neither must fail.
func Copy(t require.TestingT, write func(*snapshot.Writer), read func(*snapshot.Reader)) {
	var out bytes.Buffer
	w := snapshot.NewWriter(&out)
	write(w)
	require.NoError(t, w.Err())
	r := snapshot.NewReader(out.Bytes())
	read(r)
	require.NoError(t, r.Err())
}
