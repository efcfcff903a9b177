package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestEditsWhileATurnRuns excludes an earlier item in each state of a turn. The pending request keeps
// it; the next request lacks it.
func TestEditsWhileATurnRuns(t *testing.T) {
	for name, c := range map[string]struct {
		words string
		// let continues the turn to its next request, or to its end and a turn after it.
		let func(r *rig, id, turnID string)
		end string
	}{
		"a request": {"hang", func(r *rig, id, turnID string) { r.ask(1, steer(id, turnID, "say more")) },
			"completed"},
		"a command":                   {"run ignore", func(r *rig, _, _ string) { r.agent.release() }, "completed"},
		"a question":                  {"run touch a", decide("accept"), "completed"},
		"a question that is declined": {"run touch a", decide("decline"), "completed"},
		"its end": {"run linger", func(r *rig, id, _ string) {
			waiting := r.post(1, turn(id, "say more"))
			time.Sleep(grace)
			require.Nil(r.t, r.answer(waiting).err)
		}, "interrupted completed"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				if strings.HasPrefix(name, "a question") {
					r.setup.policy = protocol.ApprovalUntrusted
				}
				id := r.begin(1)
				r.ask(mirror, resume(id))
				r.ask(mirror, getItems(id))
				r.turn(1, id, "say secret")
				r.clients.forget()
				turnID := r.turn(1, id, c.words)
				if name == "its end" {
					r.ask(1, interrupt(id, ""))
				}
				require.Contains(t, r.agent.last(), "say secret")
				asked, sent := r.agent.asked(), r.agent.last()
				r.ask(1, exclude(id, r.idOf(id, "say secret"), r.idOf(id, "secret")))
				require.Len(t, r.agent.asked(), len(asked), "an edit asks the agent nothing")
				require.Equal(t, sent, encode(asked[len(asked)-1].Items), "the request under way is as it was")
				c.let(r, id, turnID)
				require.Equal(t, c.end, strings.Join(r.ends(1), " "))
				require.Greater(t, len(r.agent.asked()), len(asked))
				require.NotContains(t, r.agent.last(), "secret")
				r.requireKept(id)
			})
		})
	}
}

// decide answers the client's question.
func decide(word string) func(r *rig, id, turnID string) {
	return func(r *rig, _, _ string) {
		r.clients.open(1)[0].answer(decision(word), nil)
		synctest.Wait()
	}
}

// TestEditsOfTheTurnThatRuns excludes a call whose command runs. The next request has neither the call
// nor its output.
func TestEditsOfTheTurnThatRuns(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run ignore")
		items := r.items(id)
		require.Equal(t, "toolCall", items[len(items)-1].Get("category").Str)
		r.ask(1, exclude(id, items[len(items)-1].Get("id").Str))
		r.clients.onMessage(func(m message) {
			if m.method == "item/completed" && m.body.Get("item.type").Str == "commandExecution" {
				r.clients.onMessage(nil)
				r.post(2, interrupt(id, "")) // the agent would call again and again
			}
		})
		r.agent.release()
		synctest.Wait()
		require.Equal(t, []string{"interrupted"}, r.ends(1))
		r.turn(1, id, "say hello")
		require.NotContains(t, r.agent.last(), `"call_id":`+
			items[len(items)-1].Get("callId").Raw) // another one may have come before the interrupt
		for _, item := range r.items(id)[2:4] {
			require.False(t, item.Get("inPrompt").Bool(), item.Raw)
		}
		r.requireKept(id)
	})
}

// TestExcludedOutputsHavePlaceholders checks the placeholder of an excluded output.
func TestExcludedOutputsHavePlaceholders(t *testing.T) {
	for name, takeOut := range map[string]func(thread string, ids ...string) call{"excluded": exclude, "deleted": remove} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				r.turn(1, id, "run touch a")
				output := r.items(id)[3]
				require.Equal(t, "toolOutput", output.Get("category").Str)
				r.ask(1, takeOut(id, output.Get("id").Str))
				placeholder := fmt.Sprintf("[output excluded from context: %d tokens]", output.Get("tokens").Int())
				r.turn(1, id, "say hello")
				require.Contains(t, r.agent.last(), placeholder)
				require.NotContains(t, r.agent.last(), "touched")
				r.leaveAndResume(id)
				r.turn(1, id, "say more")
				require.Contains(t, r.agent.last(), placeholder)
				require.NotContains(t, r.agent.last(), "touched")
				r.requireKept(id)
			})
		})
	}
}

// TestThePromptIsWhatTheAgentIsSent checks that context/getPrompt shows the next
// request, up to the new input.
func TestThePromptIsWhatTheAgentIsSent(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		r.turn(1, id, "say hello")
		for i, c := range append([]call{getUsage(id)}, contextEdits(id, r.ids(id))...) {
			r.ask(1, c)
			if i%3 == 2 {
				r.leaveAndResume(id)
			}
			shown := r.ask(2, getPrompt(id))
			words := fmt.Sprintf("say %d", i)
			r.turn(1, id, words)
			want := shown.Get("messages").Array()
			prompts := r.agent.asked()
			got := prompts[len(prompts)-1]
			require.Len(t, got.Items, len(want)+1, c.method)
			for k, m := range want {
				require.JSONEq(t, m.Raw, encode(got.Items[k]), c.method)
			}
			require.Contains(t, encode(got.Items[len(want)]), words)
			require.Equal(t, got.Model, shown.Get("model").Str)
			require.Equal(t, got.Provider, shown.Get("provider").Str)
			require.Equal(t, r.ask(1, getUsage(id)).Get("usage.promptTokens").Int(), r.ask(1, getPrompt(id)).Get("tokens").Int())
		}
		r.requireKept(id)
	})
}

// TestAFloodOfEdits lets a client edit while a model and a command stream: each edit is
// answered, and the turns end.
func TestAFloodOfEdits(t *testing.T) {
	for _, words := range []string{"flood", "run flood"} {
		bubble(t, func(t *testing.T, r *rig) {
			id := r.begin(1)
			r.turn(1, id, "say secret")
			secret := r.idOf(id, "secret")
			r.post(1, turn(id, words))
			for i := range 50 {
				c := exclude(id, secret)
				if i%2 == 1 {
					c = undo(id)
				}
				require.Nil(t, r.converse(1, c).err)
				time.Sleep(time.Millisecond)
			}
			r.post(1, interrupt(id, ""))
			time.Sleep(grace)
			require.Equal(t, []string{"completed", "interrupted"}, r.ends(1))
			r.requireKept(id)
		})
	}
}
