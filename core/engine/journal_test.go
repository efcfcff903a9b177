package engine_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// suspends makes a new thread take a turn, and lets the store suspend its journal.
func (r *rig) suspends(faulty *faultfs.Disk) (id string) {
	r.t.Helper()
	id = r.begin(1)
	r.turn(1, id, "say hello")
	require.NotEmpty(r.t, r.ends(1))
	require.NotEmpty(r.t, r.mem.Held())
	_, err := r.store.Find(id)
	require.NoError(r.t, err)
	require.Equal(r.t, 1, faulty.Failures())
	require.Empty(r.t, r.mem.Held(), "the thread has given its lock back")
	return id
}

var noDescriptors = faultfs.Fault{Only: []faultfs.Op{faultfs.OpReadDir}, Count: 1, Err: syscall.EMFILE}

func TestASuspendedThreadTakesTurns(t *testing.T) {
	bubbleOn(t, noDescriptors, func(t *testing.T, r *rig, faulty *faultfs.Disk) {
		id := r.suspends(faulty)
		r.turn(1, id, "say hello")
		require.Equal(t, []string{"completed", "completed"}, r.ends(1))
		require.Empty(t, r.clients.notices(1, "thread/closed"))
		require.NotEmpty(t, r.mem.Held())
		r.requireKept(id)
	})
}

func TestAThreadStaysWhenItCannotBeResumedForWantOfDescriptors(t *testing.T) {
	bubbleOn(t, noDescriptors, func(t *testing.T, r *rig, faulty *faultfs.Disk) {
		id := r.suspends(faulty)
		none := r.disk.fail(syscall.EMFILE, faultfs.OpOpen)
		require.Equal(t, protocol.KindStorage, r.rejected(1, setName(id, "n")))
		none.heal()
		require.Empty(t, r.clients.notices(1, "thread/closed"))
		r.ask(1, setName(id, "n"))
		r.requireKept(id)
	})
}

func TestASuspendedThreadIsClosedIfItHasAnotherWriter(t *testing.T) {
	bubbleOn(t, noDescriptors, func(t *testing.T, r *rig, faulty *faultfs.Disk) {
		id := r.suspends(faulty)
		path, err := r.store.Find(id)
		require.NoError(t, err)
		other, _, err := rollout.NewStore(r.mem, home).Open(path)
		require.NoError(t, err)
		to := r.post(1, setName(id, "n"))
		<-time.After(time.Second) // locks are waited for
		require.Equal(t, protocol.KindThreadLocked, r.rejection(to))
		require.Len(t, r.clients.notices(1, "thread/closed"), 1)
		require.NoError(t, other.Close())
	})
}

func TestASuspendedThreadIsLoadedAnewIfItsRolloutHasChanged(t *testing.T) {
	bubbleOn(t, noDescriptors, func(t *testing.T, r *rig, faulty *faultfs.Disk) {
		id := r.suspends(faulty)
		path, err := r.store.Find(id)
		require.NoError(t, err)
		other, contents, err := rollout.NewStore(r.mem, home).Open(path)
		require.NoError(t, err)
		last := contents.Lines[len(contents.Lines)-1]
		last.Ordinal = &contents.Next
		last.Type, last.Payload = "x_of_another_program", []byte(`{"a":1}`)
		require.NoError(t, other.Append([]protocol.RolloutLine{last}, true))
		require.NoError(t, other.Close())
		r.turn(1, id, "say hello")
		require.Equal(t, []string{"completed", "completed"}, r.ends(1))
		require.Empty(t, r.clients.notices(1, "thread/closed"))
		r.requireKept(id)
	})
}
