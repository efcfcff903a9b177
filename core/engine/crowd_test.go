package engine_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout/faultfs"
)

// TestManyClientsSeeConsistentThreads sends requests of many clients to the same threads at the same time. Each
// response is consistent with the thread.
func TestManyClientsSeeConsistentThreads(t *testing.T) {
	mem := faultfs.NewMem(home)
	r := newRig(t, mem, mem)
	var ids []string
	for i := range 500 {
		ids = append(ids, fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", i))
	}
	crowd(r, func(conn uint64) {
		for _, id := range ids {
			r.post(conn, resume(id))
		}
	})
	crowd(r, func(conn uint64) {
		for _, id := range ids[:50] {
			m := r.converse(conn, setName(id, "n"))
			if m.err == nil || m.err.Data.Kind != protocol.KindThreadNotFound {
				t.Errorf("%v: %v", m, m.err)
			}
		}
	})
	require.NoError(t, r.close(time.Minute))
	r.checker.ended()
	require.Empty(t, r.checker.problems())
	for conn := range uint64(crowdSize) {
		require.Len(t, r.clients.all(conn,
			func(m message) bool { return m.kind == rejection && m.err.Data.Kind == protocol.KindThreadNotFound }), len(ids)+50)
	}
}

const crowdSize = 16

// crowd runs a client's part for many clients at the same time.
func crowd(r *rig, part func(conn uint64)) {
	r.t.Helper()
	var all sync.WaitGroup
	for conn := range uint64(crowdSize) {
		all.Go(func() { part(conn) })
	}
	all.Wait()
}
