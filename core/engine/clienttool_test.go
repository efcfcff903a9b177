package engine_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/engine"
	"appserver/protocol"
)

const puts = `call request_user_input {"questions":[{"id":"db","header":"Store","question":"Which?","options":[{"label":"A","description":"a"}]}]}`

// planning returns a turn in plan mode.
func planning(thread, words string) call {
	p := protocol.TurnStartParams{ThreadID: thread, Input: said(words),
		CollaborationMode: &protocol.CollaborationMode{Mode: protocol.ModePlan}}
	p.CollaborationMode.Settings.Model = "model-1"
	return call{"turn/start", thread, func(e *engine.Engine, to protocol.Caller) error { return e.TurnStart(to, &p) }}
}

// tooled starts a thread whose client has a tool.
func (r *rig) tooled(conn uint64) string {
	spec := protocol.DynamicToolSpec{Type: "function", Name: "ticket", InputSchema: json.RawMessage(`{}`)}
	p := protocol.ThreadStartParams{DynamicTools: []protocol.DynamicToolSpec{spec}}
	return r.ask(conn, startWith(p)).Get("thread.id").Str
}

// clientAsks begin turns in which the client is asked.
var clientAsks = map[string]struct {
	begin          func(thread string) call
	answer, output string
}{
	"a tool": {func(thread string) call { return turn(thread, "call ticket {}") },
		`{"contentItems":[{"type":"inputText","text":"open"}],"success":true}`, "open"},
	"a question": {func(thread string) call { return planning(thread, puts) }, `{"answers":{"db":{"answers":["A"]}}}`,
		`{"answers":{"db":{"answers":["A"]}}}`},
}

// eachAsk runs a test with two clients that were both asked.
func eachAsk(t *testing.T, test func(t *testing.T, r *rig, id, answer, output string)) {
	for name, c := range clientAsks {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.tooled(1)
				r.ask(2, resume(id))
				r.ask(1, c.begin(id))
				synctest.Wait()
				require.Len(t, r.clients.open(1), 1)
				require.Len(t, r.clients.open(2), 1)
				test(t, r, id, c.answer, c.output)
			})
		})
	}
}

// TestRequestsForClientToolsAreListed shows the request to a client that does not follow the thread.
// The client resumes the thread, is asked with the id of the list, and answers.
func TestRequestsForClientToolsAreListed(t *testing.T) {
	eachAsk(t, func(t *testing.T, r *rig, id, answer, output string) {
		asked := time.Now().Unix()
		time.Sleep(time.Minute)
		list := openRequests(protocol.ServerRequestListParams{ThreadID: &id})
		listed := r.ask(3, list).Get("data").Array()
		require.Len(t, listed, 1)
		params := listed[0].Get("params")
		require.Equal(t, params.Get("turnId").Str, listed[0].Get("turnId").Str)
		require.Equal(t, cmp.Or(params.Get("itemId").Str, params.Get("callId").Str), listed[0].Get("itemId").Str)
		require.NotEmpty(t, listed[0].Get("itemId").Str)
		require.Equal(t, asked, listed[0].Get("askedAt").Int())

		r.ask(3, resume(id))
		request := r.clients.open(3)[0]
		require.Equal(t, listed[0].Get("requestId").Uint(), request.id)
		require.Equal(t, params.Raw, request.body.Raw)
		request.answer([]byte(answer), nil)
		require.Equal(t, []string{"completed"}, r.ends(3))
		require.Equal(t, output, r.output())
		require.Empty(t, r.ask(3, list).Get("data").Array())
	})
}

// output returns the last tool output that the model received.
func (r *rig) output() string {
	prompts := r.agent.asked()
	items := prompts[len(prompts)-1].Items
	if out, ok := items[len(items)-1].ResponseItemVariant.(*protocol.FunctionCallOutput); ok {
		return out.Output.Text
	}
	return ""
}

// TestTheFirstOfTwoClientsIsHeard: both were asked, one answers, and then the other.
func TestTheFirstOfTwoClientsIsHeard(t *testing.T) {
	eachAsk(t, func(t *testing.T, r *rig, id, answer, output string) {
		one, two := r.clients.open(1)[0], r.clients.open(2)[0]
		require.Equal(t, one.id, two.id)
		require.Equal(t, one.body.Raw, two.body.Raw)
		two.answer(json.RawMessage(answer), nil)
		one.answer(json.RawMessage(`{"contentItems":[],"success":false,"answers":{}}`), nil)
		one.answer(nil, errors.New("too late"))
		require.Equal(t, []string{"completed"}, r.ends(1))
		require.Equal(t, output, r.output())
		for conn := range uint64(2) {
			require.Len(t, r.clients.notices(conn+1, "serverRequest/resolved"), 1)
			require.Empty(t, r.clients.open(conn+1))
		}
	})
}

// TestClientsThatUnsubscribeAreNotAwaited: one client goes, and the answer of the other counts.
func TestClientsThatUnsubscribeAreNotAwaited(t *testing.T) {
	eachAsk(t, func(t *testing.T, r *rig, id, answer, output string) {
		r.ask(1, unsubscribe(id))
		r.clients.open(2)[0].answer(json.RawMessage(answer), nil)
		require.Equal(t, []string{"completed"}, r.ends(2))
		require.Equal(t, output, r.output())
	})
}

// TestClientToolsFailWithoutAClient disconnects all clients. The turn waits, and the next client receives the
// request.
func TestClientToolsFailWithoutAClient(t *testing.T) {
	eachAsk(t, func(t *testing.T, r *rig, id, answer, output string) {
		r.ask(1, unsubscribe(id))
		r.ask(2, unsubscribe(id))
		time.Sleep(48 * time.Hour)
		r.ask(3, resume(id))
		synctest.Wait()
		require.Len(t, r.clients.open(3), 1)
		r.clients.open(3)[0].answer(json.RawMessage(answer), nil)
		require.Equal(t, []string{"completed"}, r.ends(3))
		require.Equal(t, output, r.output())
	})
}

// TestAnInterruptAnswersForTheClient: the turn ends at once; what is answered then changes
// nothing, in this turn or the next.
func TestAnInterruptAnswersForTheClient(t *testing.T) {
	eachAsk(t, func(t *testing.T, r *rig, id, answer, output string) {
		late := r.clients.open(1)[0]
		r.ask(2, interrupt(id, late.body.Get("turnId").Str))
		require.Equal(t, []string{"interrupted"}, r.ends(1))
		require.Empty(t, r.clients.open(1))
		late.answer(json.RawMessage(answer), nil)
		before := len(r.agent.asked())
		r.turn(1, id, "say well")
		require.Equal(t, []string{"interrupted", "completed"}, r.ends(1))
		require.Len(t, r.agent.asked(), before+1)
		require.NotContains(t, r.agent.last(), `"open"`)
		r.requireKept(id)
	})
}

// TestAThreadIsArchivedWhileItAsks resolves the question, and ends the turn.
func TestAThreadIsArchivedWhileItAsks(t *testing.T) {
	eachAsk(t, func(t *testing.T, r *rig, id, answer, output string) {
		late := r.clients.open(1)[0]
		r.ask(1, archive(id))
		require.Empty(t, r.clients.open(1))
		require.Equal(t, []string{"interrupted"}, r.ends(1))
		late.answer(json.RawMessage(answer), nil)
		r.ask(1, unarchive(id))
		r.ask(1, resume(id))
		r.turn(1, id, "call ticket {}")
		require.Len(t, r.clients.open(1), 1, "the tools come back with the thread")
		r.clients.open(1)[0].answer(nil, errors.New("no"))
		synctest.Wait()
		require.Equal(t, "The client could not run ticket: no", r.output())
	})
}
