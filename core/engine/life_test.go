package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestLifeOfAThread compares the operations of the disk and the messages to the client in a turn with
// an approved command, in order: no message precedes its durable lines.
func TestLifeOfAThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.policy = protocol.ApprovalUntrusted
		id := r.begin(1)
		require.Equal(t, []string{
			"disk takes session_meta turn_context thread_settings_applied",
			"disk syncs",
			"1: response thread/start",
			"1: notification thread/started",
		}, r.diary.read())
		r.turn(1, id, "run touch a")
		require.Equal(t, []string{
			"disk takes task_started turn_context message message item_completed user_message",
			"disk syncs",
			"1: response turn/start inProgress",
			"1: notification thread/status/changed active",
			"1: notification turn/started inProgress",
			"1: notification item/started userMessage",
			"1: notification item/completed userMessage",
			"disk takes token_count function_call turn_waiting",
			"disk syncs",
			"1: notification thread/status/changed active",
			"1: notification item/started commandExecution inProgress",
			"1: request item/commandExecution/requestApproval",
		}, r.diary.read())
		r.clients.open(1)[0].answer(decision("accept"), nil)
		synctest.Wait()
		require.Equal(t, []string{
			"disk takes turn_waiting",
			"disk syncs",
			"1: notification serverRequest/resolved",
			"1: notification thread/status/changed active",
			"1: notification item/commandExecution/outputDelta touched a",
			"disk takes item_completed function_call_output",
			"disk syncs",
			"1: notification item/completed commandExecution completed",
			"1: notification item/started agentMessage",
			"1: notification item/agentMessage/delta done",
			"disk takes message item_completed agent_message token_count task_complete",
			"disk syncs",
			"1: notification item/completed agentMessage",
			"1: notification thread/tokenUsage/updated",
			"1: notification thread/status/changed idle",
			"1: notification turn/completed completed",
			"1: notification ContextItems",
		}, r.diary.read())
		require.Equal(t, []string{"touch a"}, r.agent.ran())
		r.requireKept(id)
	})
}

func TestAFailedModelRequestFailsTheTurn(t *testing.T) {
	for _, words := range []string{"fail", "error"} {
		bubble(t, func(t *testing.T, r *rig) {
			id := r.begin(1)
			r.turn(1, id, words)
			require.Equal(t, []string{"failed"}, r.ends(1))
			require.Equal(t, "systemError", r.ask(1, read(id)).Get("thread.status.type").Str)
			r.turn(1, id, "say hello")
			require.Equal(t, []string{"failed", "completed"}, r.ends(1))
			r.requireKept(id)
		})
	}
}

func TestInterrupt(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		for _, words := range []string{"hang", "run hang", "run linger"} {
			r.clients.forget()
			r.turn(1, id, words)
			require.EqualValues(t, 1, r.agent.running.Load())
			r.ask(1, interrupt(id, ""))
			time.Sleep(2 * time.Second)
			r.turn(1, id, "say hello")
			require.Equal(t, []string{"interrupted", "completed"}, r.ends(1), words)
			require.Zero(t, r.agent.running.Load())
			require.Equal(t, protocol.KindNoActiveTurn, r.rejected(1, interrupt(id, "")))
		}
		r.requireKept(id)
	})
}

// TestInterruptByTurn checks that an interrupt needs no thread id.
func TestInterruptByTurn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		one, two := r.begin(1), r.begin(2)
		first, second := r.turn(1, one, "hang"), r.turn(2, two, "hang")
		r.ask(1, interrupt("", second))
		require.Empty(t, r.ends(1))
		require.Equal(t, []string{"interrupted"}, r.ends(2))
		require.Equal(t, protocol.KindNoActiveTurn, r.rejected(1, interrupt("", second)), "it has ended")
		require.Equal(t, protocol.KindNoActiveTurn, r.rejected(1, interrupt("", one)), "it is none")
		require.Equal(t, protocol.KindInvalidParams, r.rejected(1, interrupt("", "")))
		require.Equal(t, protocol.KindTurnMismatch, r.rejected(1, interrupt(one, second)))
		r.ask(2, interrupt("", first))
		require.Equal(t, []string{"interrupted"}, r.ends(1))
	})
}

// TestInterruptAtOnce checks that a turn can be interrupted directly after its begin was announced.
func TestInterruptAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var interrupted protocol.Caller
		r.clients.onMessage(func(m message) {
			if m.kind == response && m.method == "turn/start" {
				interrupted = r.post(2, interrupt("", m.body.Get("turn.id").Str))
			}
		})
		r.turn(1, r.begin(1), "hang")
		require.Nil(t, r.answer(interrupted).err)
		require.Equal(t, []string{"interrupted"}, r.ends(1))
	})
}

func TestSteer(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		turn := r.turn(1, id, "hang")
		require.Equal(t, turn, r.ask(1, steer(id, turn, "say hello")).Get("turnId").Str)
		require.Equal(t, []string{"completed"}, r.ends(1))
		require.Equal(t, protocol.KindNoActiveTurn, r.rejected(1, steer(id, turn, "say more")))
		r.requireKept(id)
	})
}

func TestRefusalsNameTheThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		unknown := "0190a6f8-1111-7aaa-8bbb-00000000000a"
		for _, id := range []string{"", "x", "../0190a6f8-1111-7aaa-8bbb-0000000000", "0190A6F8-1111-7AAA-8BBB-00000000000A",
			"0190a6f811117aaa8bbb00000000000a"} {
			for _, c := range []call{resume(id), read(id), unsubscribe(id), setName(id, "n"), turn(id, "say x"),
				steer(id, "t", "x")} {
				require.Equal(t, protocol.KindInvalidThreadID, r.rejected(1, c), "%s of %q", c.method, id)
			}
		}
		for _, c := range []call{turn(unknown, "say x"), steer(unknown, "t", "x"), interrupt(unknown, "t"), resume(unknown),
			setName(unknown, "n")} {
			require.Equal(t, protocol.KindThreadNotFound, r.rejected(1, c), c.method)
		}
		require.Equal(t, protocol.KindThreadNotLoaded, r.rejected(1, read(unknown)))
		require.Equal(t, protocol.KindInvalidParams, r.rejected(1, setName(unknown, " \t")))
		require.Equal(t, "notLoaded", r.ask(1, unsubscribe(unknown)).Get("status").Str)
		require.Empty(t, r.loaded())
	})
}

// TestEphemeralThreadsTouchNoDisk checks that an ephemeral thread does not touch the disk.
func TestEphemeralThreadsTouchNoDisk(t *testing.T) {
	for name, begin := range map[string]func(r *rig) call{
		"by the client": func(*rig) call { return startWith(protocol.ThreadStartParams{Ephemeral: new(true)}) },
		"by the setup":  func(r *rig) call { r.setup.persist = false; return start() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.ask(1, begin(r)).Get("thread.id").Str
				r.turn(1, id, "run touch a")
				named := r.answer(r.post(1, setName(id, "secret")))
				require.NotNil(t, named.err)
				require.Contains(t, named.err.Message, "ephemeral thread does not support metadata updates")
				thread := r.ask(1, read(id)).Get("thread")
				require.Len(t, thread.Get("turns.0.items").Array(), 3)
				require.Equal(t, id, r.ask(2, resume(id)).Get("thread.id").Str)
				require.NoError(t, r.close(grace))
				require.Empty(t, r.mem.Files(home))
			})
		})
	}
}
