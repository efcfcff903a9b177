package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/engine"
	"appserver/protocol"
	"appserver/rollout/faultfs"
)

func listTerminals(thread string) call {
	p := &protocol.ThreadBackgroundTerminalsListParams{ThreadID: thread}
	return call{"thread/backgroundTerminals/list", thread, func(e *engine.Engine, to protocol.Caller) error {
		return e.ThreadBackgroundTerminalsList(to, p)
	}}
}

func shellCommand(thread, script string) call {
	p := &protocol.ThreadShellCommandParams{ThreadID: thread, Command: script}
	return call{"thread/shellCommand", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadShellCommand(to, p) }}
}

// leftRunning returns a thread whose turn has left a command running.
func (r *rig) leftRunning() string {
	r.t.Helper()
	id := r.begin(1)
	r.turn(1, id, "stay hang")
	time.Sleep(time.Second)
	require.Equal(r.t, []string{"completed"}, r.ends(1))
	require.Len(r.t, r.ask(1, listTerminals(id)).Get("data").Array(), 1)
	return id
}

// TestTerminalsKeepAThread requires that a thread with a running command stays loaded without a subscriber.
func TestTerminalsKeepAThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.unload = lonelyFor
		id := r.leftRunning()
		r.ask(1, unsubscribe(id))
		time.Sleep(3 * lonelyFor)
		require.Equal(t, []string{id}, r.loaded())
	})
}

// TestTerminalsEndWithTheirThread requires that their items are in the archived rollout.
func TestTerminalsEndWithTheirThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.leftRunning()
		r.diary.read()
		r.ask(1, archive(id))
		require.Subset(t, r.diary.read(), []string{"1: notification thread/archived"})
		require.Zero(t, r.agent.running.Load())
		items := r.ask(1, read(id)).Get("thread.turns.0.items")
		require.Equal(t, "failed", items.Get(`#(type=="commandExecution").status`).Str)
	})
}

// TestTerminalsEndIfTheDiskFails requires that a failed append ends the commands of a thread, that
// only durable facts are sent, and that the thread takes another turn.
func TestTerminalsEndIfTheDiskFails(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.leftRunning()
		broken := r.disk.fail(errors.New("no space left"), faultfs.OpWrite)
		require.Equal(t, protocol.KindStorage, r.rejected(1, setName(id, "name")))
		broken.heal()
		require.Empty(t, r.ask(1, listTerminals(id)).Get("data").Array())
		time.Sleep(5 * time.Second)
		require.Zero(t, r.agent.running.Load())
		r.turn(1, id, "say on")
		require.Equal(t, []string{"completed", "completed"}, r.ends(1))
		r.requireKept(id)
	})
}

// TestOwnCommandsNeedNoModel requires that commands of the user run while the provider is not ready.
func TestOwnCommandsNeedNoModel(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.setup.onWorld(func(string) error { return protocol.Refuse(protocol.KindProviderNotReady, "no key") })
		r.ask(1, shellCommand(id, "touch a"))
		time.Sleep(time.Second)
		require.Equal(t, []string{"completed"}, r.ends(1))
		r.setup.onWorld(func(string) error { return errors.New("gone") })
		require.Equal(t, protocol.KindInternal, r.rejected(1, shellCommand(id, "touch a")))
	})
}
