package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"

	"appserver/core/engine"
	"appserver/protocol"
)

// logged counts what was logged as an error.
func (r *rig) logged(message string) int {
	return r.logs.FilterMessage(message).FilterLevelExact(zapcore.ErrorLevel).Len()
}

// TestPanicOfAnEffectFailsThatEffectOnly checks that a model or a command that panics fails, and takes nothing
// else with it.
func TestPanicOfAnEffectFailsThatEffectOnly(t *testing.T) {
	for words, end := range map[string]string{"panic": "failed", "run panic": "completed"} {
		t.Run(words, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id, other := r.begin(1), r.begin(2)
				r.turn(2, other, "hang")
				r.turn(1, id, words)
				require.Equal(t, []string{end}, r.ends(1))
				require.Equal(t, 1, r.logged("an effect panicked"))
				require.Contains(t, r.logs.FilterMessage("an effect panicked").All()[0].ContextMap()["panic"],
					"the effect has a fault")
				if end == "completed" {
					turn := r.ask(1, read(id)).Get("thread.turns.0")
					require.Equal(t, "failed", turn.Get(`items.#(type=="commandExecution").status`).Str)
				}
				r.turn(1, id, "say hello")
				require.Equal(t, "completed", r.ends(1)[1])
				require.Empty(t, r.ends(2))
				r.requireKept(id)
			})
		})
	}
}

// TestEffectThatIgnoresItsCancellationIsGivenUp checks that an effect that does not heed its cancellation holds up the
// end of its turn for the grace period, and no longer.
func TestEffectThatIgnoresItsCancellationIsGivenUp(t *testing.T) {
	for _, words := range []string{"ignore", "run ignore"} {
		t.Run(words, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				r.turn(1, id, words)
				time.Sleep(10 * grace)
				require.Empty(t, r.ends(1), "an effect may take its time")
				r.ask(1, interrupt(id, ""))
				waiting := r.post(1, turn(id, "say hello"))
				time.Sleep(grace - time.Millisecond)
				require.Empty(t, r.ends(1))
				time.Sleep(2 * time.Millisecond)
				require.Equal(t, []string{"interrupted", "completed"}, r.ends(1))
				require.Nil(t, r.answer(waiting).err, "what came meanwhile is the next turn")
				require.Equal(t, 1, r.logged("an effect outlasted its cancellation"))
				said := r.logs.FilterMessage("an effect outlasted its cancellation").All()[0].ContextMap()
				require.Contains(t, []any{"core.ModelFailed", "core.ToolDone"}, said["instead"], "which kind of effect it was")
				before := r.unasked(1)
				r.agent.release()
				require.Equal(t, before, r.unasked(1), "its later output is dropped")
				r.turn(1, id, "say more")
				require.Equal(t, []string{"interrupted", "completed", "completed"}, r.ends(1))
				r.requireKept(id)
			})
		})
	}
}

// TestPiecesAfterACancellationAreDropped checks that output after the cancellation of an effect is not sent, and that
// the turn ends with the effect.
func TestPiecesAfterACancellationAreDropped(t *testing.T) {
	for _, words := range []string{"linger", "run linger"} {
		t.Run(words, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				r.turn(1, id, words)
				r.ask(1, interrupt(id, ""))
				require.Empty(t, r.ends(1), "the effect is on its way out")
				time.Sleep(2 * time.Second)
				require.Equal(t, []string{"interrupted"}, r.ends(1))
				require.Zero(t, r.logged("an effect outlasted its cancellation"))
				if words == "linger" { // a command may speak until it has ended
					require.NotContains(t, strings.Join(r.unasked(1), "\n"), "late")
				}
				r.requireKept(id)
			})
		})
	}
}

// TestASteeredRequestIsDropped checks that the model request that a steer replaces does
// not get a word in.
func TestASteeredRequestIsDropped(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		turn := r.turn(1, id, "linger")
		r.ask(1, steer(id, turn, "say hello"))
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{"completed"}, r.ends(1))
		require.NotContains(t, strings.Join(r.unasked(1), "\n"), "late")
		items := r.ask(1, read(id)).Get("thread.turns.0.items").Array()
		require.Equal(t, []string{"userMessage", "userMessage", "agentMessage"}, texts(items, "type"))
		require.Equal(t, "hello", items[2].Get("text").Str)
	})
}

// TestCompletedFloor checks that the end of a quick turn is held back, and that the
// thread is served meanwhile.
func TestCompletedFloor(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.floor = 50 * time.Millisecond
		r.restart()
		id := r.begin(1)
		r.turn(1, id, "say hello")
		r.ask(1, setName(id, "n"))
		time.Sleep(49 * time.Millisecond)
		require.Empty(t, r.ends(1))
		time.Sleep(time.Millisecond)
		require.Equal(t, []string{"completed"}, r.ends(1))
		r.turn(1, id, "say more")
		began := time.Now()
		require.NoError(t, r.close(grace))
		require.Zero(t, time.Since(began), "the end of the server waits for no floor")
		require.Len(t, r.ends(1), 2)
	})
}

// TestFastAnswersWaitForTheClient checks that an immediate answer of a model is delayed until the client can process
// it, and that an interrupt is not.
func TestFastAnswersWaitForTheClient(t *testing.T) {
	const lead = 25 * time.Millisecond
	bubble(t, func(t *testing.T, r *rig) {
		r.with(func(p *engine.Parts) { p.AnswerLead = lead })
		id := r.begin(1)
		said := func(text string) bool { return strings.Contains(strings.Join(r.unasked(1), "\n"), text) }
		for _, words := range []string{"hello", "more"} {
			r.turn(1, id, "say "+words)
			time.Sleep(lead - time.Millisecond)
			require.False(t, said(`"delta":"`+words), "%s came too early", words)
			time.Sleep(time.Millisecond)
			require.True(t, said(`"delta":"`+words), "%s did not come", words)
		}
		r.turn(1, id, "say late")
		r.ask(1, interrupt(id, ""))
		require.Equal(t, []string{"completed", "completed", "interrupted"}, r.ends(1))
		require.False(t, said(`"delta":"late`))
	})
}

// TestEffectsEndWithTheirThread checks that a reload of the thread cancels its effects and ignores
// their later output.
func TestEffectsEndWithTheirThread(t *testing.T) {
	for _, words := range []string{"linger", "run linger"} {
		t.Run(words, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				r.turn(1, id, words)
				broken := r.disk.fail(errFull, writes...)
				require.Equal(t, protocol.KindStorage, r.rejected(1, setName(id, "n")))
				broken.heal()
				require.Equal(t, []string{"failed"}, r.ends(1))
				r.turn(1, id, "run hang")
				time.Sleep(2 * time.Second)
				require.EqualValues(t, 1, r.agent.running.Load(), "the effects before are gone, that of the new turn is not")
				require.Equal(t, []string{"failed"}, r.ends(1))
				r.ask(1, interrupt(id, ""))
				require.Equal(t, []string{"failed", "interrupted"}, r.ends(1))
				require.NotContains(t, strings.Join(r.unasked(1), "\n"), "late")
				r.requireKept(id)
			})
		})
	}
}

// TestALateDecision checks that an answer to a question of a thread that was loaded
// anew runs nothing.
func TestALateDecision(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.policy = protocol.ApprovalUntrusted
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		late := r.clients.open(1)[0]
		broken := r.disk.fail(errFull, writes...)
		require.Equal(t, protocol.KindStorage, r.rejected(1, setName(id, "n")))
		broken.heal()
		require.Empty(t, r.clients.open(1), "the question is resolved")
		r.turn(1, id, "run touch b")
		late.answer(decision("accept"), nil)
		synctest.Wait()
		require.Empty(t, r.agent.ran())
		r.clients.open(1)[0].answer(decision("accept"), nil)
		synctest.Wait()
		require.Equal(t, []string{"touch b"}, r.agent.ran())
	})
}
