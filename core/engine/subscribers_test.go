package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// unasked returns the abbreviated notifications and requests to a client.
func (r *rig) unasked(conn uint64) []string {
	synctest.Wait()
	var received []string
	for _, m := range r.clients.all(conn,
		func(m message) bool { return m.kind == notification || m.kind == serverRequest }) {
		m.to = protocol.Caller{}
		received = append(received, m.String()+" "+m.body.Raw)
	}
	return received
}

func TestTwoClientsHearTheSame(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.policy = protocol.ApprovalUntrusted
		id := r.begin(1)
		r.ask(2, resume(id))
		r.clients.forget()
		r.turn(2, id, "run touch a")
		r.clients.open(1)[0].answer(decision("accept"), nil)
		r.ask(1, setName(id, "n"))
		require.Greater(t, len(r.unasked(1)), 10)
		require.Equal(t, r.unasked(1), r.unasked(2))
		answers := func(conn uint64) (methods []string) {
			for _, m := range r.clients.all(conn, func(m message) bool { return m.kind == response }) {
				methods = append(methods, m.method)
			}
			return methods
		}
		require.Equal(t, []string{"thread/name/set"}, answers(1))
		require.Equal(t, []string{"turn/start"}, answers(2))
	})
}

func TestTheFirstAnswerCounts(t *testing.T) {
	for name, c := range map[string]struct {
		word, late string
		end        string
		ran        []string
	}{
		"accept":  {"accept", "cancel", "completed", []string{"touch a"}},
		"decline": {"decline", "accept", "completed", []string{}},
		"cancel":  {"cancel", "accept", "interrupted", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				r.setup.policy = protocol.ApprovalUntrusted
				id := r.begin(1)
				r.ask(2, resume(id))
				r.turn(1, id, "run touch a")
				one, two := r.clients.open(1), r.clients.open(2)
				require.Len(t, one, 1)
				require.Len(t, two, 1)
				require.Equal(t, one[0].id, two[0].id)
				two[0].answer(decision(c.word), nil)
				one[0].answer(decision(c.late), nil)
				require.Equal(t, []string{c.end}, r.ends(1))
				require.Equal(t, c.ran, r.agent.ran())
				for conn := range uint64(2) {
					require.Len(t, r.clients.notices(conn+1, "serverRequest/resolved"), 1)
				}
				require.Equal(t, 1, r.logs.FilterMessageSnippet("answer dropped").Len(), "the late answer is a line in the log")
			})
		})
	}
}

func TestAClientThatCannotDecideDeclines(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.policy = protocol.ApprovalUntrusted
		r.turn(1, r.begin(1), "run touch a")
		r.clients.open(1)[0].answer(nil, errors.New("method not found"))
		require.Equal(t, []string{"completed"}, r.ends(1))
		require.Empty(t, r.agent.ran())
	})
}

// TestWhoJoinsIsAsked checks that a new subscriber receives the open request, and that no client
// receives it twice.
func TestWhoJoinsIsAsked(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.policy = protocol.ApprovalUntrusted
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		r.ask(2, resume(id))
		questions := func(conn uint64) int {
			return len(r.clients.all(conn, func(m message) bool { return m.kind == serverRequest }))
		}
		require.Equal(t, 1, questions(2))
		require.Equal(t, 1, questions(1), "the client that was there is asked once")
		r.clients.open(2)[0].answer(decision("accept"), nil)
		require.Equal(t, []string{"completed"}, r.ends(1))
	})
}

// TestOpenRequestsAreListed shows the open requests of two threads, oldest first and in pages, to a
// client that follows neither. It resumes one thread and answers.
func TestOpenRequestsAreListed(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.policy = protocol.ApprovalUntrusted
		first, second := r.begin(1), r.begin(1)
		r.turn(1, second, "run touch b")
		r.turn(1, first, "run touch a")
		r.ask(1, unsubscribe(second))
		all := r.ask(3, openRequests(protocol.ServerRequestListParams{}))
		require.Equal(t, []string{second, first}, texts(all.Get("data").Array(), "threadId"))
		require.Equal(t, "item/commandExecution/requestApproval", all.Get("data.0.method").Str)
		require.Equal(t, texts(all.Get("data.#.params").Array(), "turnId"), texts(all.Get("data").Array(), "turnId"))
		require.Equal(t, texts(all.Get("data.#.params").Array(), "itemId"), texts(all.Get("data").Array(), "itemId"))
		require.Equal(t, "touch b", all.Get("data.0.params.commandActions.0.command").Str)
		page := r.ask(3, openRequests(protocol.ServerRequestListParams{Limit: new(uint32(1))}))
		require.Equal(t, []string{second}, texts(page.Get("data").Array(), "threadId"))
		page = r.ask(3, openRequests(protocol.ServerRequestListParams{Cursor: new(page.Get("nextCursor").Str)}))
		require.Equal(t, []string{first}, texts(page.Get("data").Array(), "threadId"))
		require.Equal(t, gjson.Null, page.Get("nextCursor").Type)

		r.ask(3, resume(second))
		require.Equal(t, all.Get("data.0.requestId").Uint(), r.clients.open(3)[0].id)
		r.clients.open(3)[0].answer(decision("accept"), nil)
		require.Equal(t, []string{"completed"}, r.ends(3))
		left := r.ask(3, openRequests(protocol.ServerRequestListParams{}))
		require.Equal(t, []string{first}, texts(left.Get("data").Array(), "threadId"))
		none := r.ask(3, openRequests(protocol.ServerRequestListParams{ThreadID: &second}))
		require.Empty(t, none.Get("data").Array())
	})
}

// TestRequestsWithoutASubscriberAreRejected checks that a question waits for a client.
func TestRequestsWithoutASubscriberAreRejected(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.policy = protocol.ApprovalUntrusted
		id := r.begin(1)
		r.ask(1, unsubscribe(id))
		r.post(1, turn(id, "run touch a"))
		synctest.Wait()
		require.Empty(t, r.clients.open(1))
		r.ask(2, resume(id))
		r.clients.open(2)[0].answer(decision("accept"), nil)
		require.Equal(t, []string{"completed"}, r.ends(2))
	})
}

func TestUnsubscribe(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.ask(2, resume(id))
		turn := r.turn(1, id, "hang")
		status := func(conn uint64) string { return r.ask(conn, unsubscribe(id)).Get("status").Str }
		require.Equal(t, "unsubscribed", status(1))
		require.Equal(t, "notSubscribed", status(1))
		require.Equal(t, "notSubscribed", status(3))
		before := r.unasked(1)
		r.ask(1, interrupt(id, turn))
		require.Equal(t, before, r.unasked(1), "answers still come, notices do not")
		require.Equal(t, []string{"interrupted"}, r.ends(2), "others are still subscribed")
		require.Equal(t, []string{id}, r.loaded())
		r.ask(1, resume(id))
		r.turn(2, id, "say hello")
		require.Equal(t, []string{"completed"}, r.ends(1))
		require.Equal(t, "unsubscribed", status(1))
		require.Equal(t, "unsubscribed", status(2))
		r.turn(1, id, "say on my own")
		require.Equal(t, "completed", r.ask(1, read(id)).Get("thread.turns.2.status").Str)
	})
}

// TestResumeTwice checks that a client that resumes again receives each message once.
func TestResumeTwice(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.ask(1, resume(id))
		r.ask(1, resume(id))
		r.turn(1, id, "say hello")
		require.Equal(t, []string{"completed"}, r.ends(1))
	})
}
