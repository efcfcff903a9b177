package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// act is a tool call.
type act struct {
	Tool      string `json:"tool"`
	Arguments object `json:"arguments"`
}

// does are the words that have an obedient model make calls: those of each list in one answer.
func does(answers ...[]act) string {
	text, err := json.Marshal(answers)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return string(text)
}

// call is a list of one.
func call(tool string, arguments object) []act { return []act{{tool, arguments}} }

func runsShell(script string) []act { return call("shell", object{"command": script}) }

// runsExec has a command run that may stay.
func runsExec(script string, more object) []act {
	arguments := object{"cmd": script, "yield_time_ms": 30_000}
	for name, value := range more {
		arguments[name] = value
	}
	return call("exec_command", arguments)
}

// types types on the session that was told last.
func types(chars string) []act {
	return call("write_stdin", object{"session_id": lastSession, "chars": chars})
}

// lastSession stands for the number of the session that the model was told last.
const lastSession = "@SESSION@"

// obedient is a model that makes the calls which the newest message of the user names, answer by
// answer, and then says that they are done.
type obedient struct {
	*provider
}

func newObedient(t *testing.T) obedient {
	o := obedient{&provider{}}
	o.server = httptest.NewServer(completions(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		asked, answer := string(body), func(answer func(io.Writer)) { answer(w) }
		if strings.HasSuffix(r.URL.Path, "/responses") {
			asked, answer = asChat(body), func(answer func(io.Writer)) { byResponses(w, answer) }
		}
		n := o.keep(chatRequest{Body: asked})
		w.Header().Set("Content-Type", "text/event-stream")
		answer(func(w io.Writer) { obey(w, n, asked) })
	}))
	t.Cleanup(o.server.Close)
	return o
}

// obey answers the n-th request.
func obey(w io.Writer, n int, body string) {
	if acts := nextActs(body); len(acts) > 0 {
		calling(w, n, acts, session(body))
		return
	}
	says("done")(w)
}

// asChat is the body of a request of the Responses API as one of Chat Completions.
func asChat(body []byte) string {
	raw, err := json.Marshal(object{"messages": asMessages(body)})
	if err != nil {
		panic(err) // of messages that were JSON
	}
	return string(raw)
}

// nextActs are the calls of the answer to a request.
func nextActs(body string) (next []act) {
	var answers [][]act
	at := 0
	for _, m := range gjson.Get(body, "messages").Array() {
		var told [][]act
		switch {
		case m.Get("role").Str == "user" && json.Unmarshal([]byte(m.Get("content").Str), &told) == nil:
			answers, at = told, 0
		case m.Get("tool_calls").Exists():
			at++
		}
	}
	if at >= len(answers) {
		return nil
	}
	return answers[at]
}

// calling answers the n-th request with calls, of which some may be about a session.
func calling(w io.Writer, n int, acts []act, session string) {
	var list []object
	for i, a := range acts {
		text, err := json.Marshal(a.Arguments)
		if err != nil {
			panic(err) // it was JSON
		}
		list = append(list, object{"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function",
			"function": object{"name": a.Tool, "arguments": strings.ReplaceAll(string(text), lastSession, session)}})
	}
	fmt.Fprint(w, streamed(object{"role": "assistant", "tool_calls": list}, nil), streamed(object{}, "tool_calls"), "data: [DONE]\n\n")
}

// outputs are what the model was told by tools, in order.
func (o obedient) outputs() (list []string) {
	asked := o.asked()
	for _, m := range gjson.Get(asked[len(asked)-1].Body, `messages.#(role=="tool")#.content`).Array() {
		list = append(list, m.Str)
	}
	return list
}

// lastOutput is what the newest call gave.
func (o obedient) lastOutput() string {
	all := o.outputs()
	return all[len(all)-1]
}

// startObedient starts the binary with an obedient model.
func startObedient(t *testing.T, args ...string) (*client, obedient) {
	t.Helper()
	return startObedientOn(t, chatWire, args...)
}

// startObedientOn does so by one of the APIs.
func startObedientOn(t *testing.T, on wireAPI, args ...string) (*client, obedient) {
	t.Helper()
	o := newObedient(t)
	o.wire = on
	c := startServer(t, o.home(t), args...)
	c.initialize()
	return c, o
}

// done runs the calls of a turn that must complete.
func (c *client) done(thread string, answers ...[]act) string {
	c.t.Helper()
	turn := c.turn(thread, does(answers...))
	require.Equal(c.t, "completed", turn.Status)
	return turn.ID
}

// session is the number that was told last, "" where none was.
func session(told string) string {
	found := sessionLine.FindAllStringSubmatch(told, -1)
	if found == nil {
		return ""
	}
	return found[len(found)-1][1]
}
