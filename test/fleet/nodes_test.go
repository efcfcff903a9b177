package fleet

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
	"appserver/test/partition"
	"appserver/test/posix"
)

// TestThreadsOutliveTheirNode kills a server during a turn. A server on another machine continues the
// thread when the lease has ended.
func TestThreadsOutliveTheirNode(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	first, second := newNode(t, url), newNode(t, url)
	id := first.StartTrusted()
	require.Equal(t, "completed", first.Turn(id, "say hello").Status)
	first.BeginTurn(id, "run: sleep 60")
	first.UntilMethod("item/started")
	first.KillGroup()
	require.Equal(t, "threadLocked", second.CallRejected("thread/resume", apptest.Object{"threadId": id}).Data.Kind)
	var view apptest.ThreadView
	require.Eventually(t, func() bool {
		m := second.Request("thread/resume", apptest.Object{"threadId": id})
		if m.Error == nil {
			view = second.ReadThread(id)
		}
		return m.Error == nil
	}, 40*time.Second, 100*time.Millisecond)
	require.Len(t, view.Turns, 2)
	require.Equal(t, "completed", view.Turns[0].Status)
	require.Equal(t, "interrupted", view.Turns[1].Status)
	require.Equal(t, "completed", second.Turn(id, "say more").Status)
	second.Close()
}

// TestSurvivorsEndTheTurnsOfADeadNode reads the thread of a killed server, without loading it.
func TestSurvivorsEndTheTurnsOfADeadNode(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	first := newNode(t, url)
	survivors := []*node{newNode(t, url), newNode(t, url)}
	id := first.StartTrusted()
	first.BeginTurn(id, "run: sleep 60")
	first.UntilMethod("item/started")
	first.KillGroup()
	for _, n := range survivors {
		require.Eventually(t, func() bool { return n.ReadThread(id).Turns[0].Status == "interrupted" },
			40*time.Second, 100*time.Millisecond)
	}
}

// TestAThreadHasOneWriterAmongNodes edits a thread that another server has open.
func TestAThreadHasOneWriterAmongNodes(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	first, second := newNode(t, url), newNode(t, url)
	id := first.StartTrusted()
	first.Turn(id, "say hello")
	rejected := second.CallRejected("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, "threadLocked", rejected.Data.Kind)
	require.Contains(t, rejected.Message, "is open on node ")
	require.Len(t, second.ReadThread(id).Turns, 1)
	list := second.Call("thread/list", apptest.Object{})
	require.Equal(t, id, gjson.GetBytes(list, "data.0.id").Str)
	require.Equal(t, gjson.Null, gjson.GetBytes(list, "data.0.path").Type)
	first.Close()
	second.Call("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, "completed", second.Turn(id, "say more").Status)
	second.Close()
	require.Len(t, newNode(t, url).ReadThread(id).Turns, 2)
}

// TestContextEditsAreSharedByNodes excludes an item on one server and reads the list on another one.
func TestContextEditsAreSharedByNodes(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	first, second := newNode(t, url), newNode(t, url)
	id := first.StartTrusted()
	first.Turn(id, "run: echo a long story")
	first.Call("context/setInclusion", apptest.Object{"threadId": id, "indices": []int{3}, "included": false})
	want := first.Call("context/getItems", apptest.Object{"threadId": id})
	got := second.Call("context/getItems", apptest.Object{"threadId": id})
	require.JSONEq(t, gjson.GetBytes(want, "items").Raw, gjson.GetBytes(got, "items").Raw)
	require.False(t, gjson.GetBytes(got, "items.3.included").Bool())
	first.Close()
	undone := second.Call("context/undo", apptest.Object{"threadId": id})
	require.EqualValues(t, 2, gjson.GetBytes(undone, "revision").Int())
	second.Close()
}

// TestUnusableDatabasesAreRefusedBeforeTheServerListens names the key, the problem and the next action.
func TestUnusableDatabasesAreRefusedBeforeTheServerListens(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	for name, c := range map[string]struct {
		url  string
		args []string
		want []string
	}{
		"no URL":      {"", nil, []string{"store.url_env", "APPSERVER_STORE_URL"}},
		"not a URL":   {"nonsense", nil, []string{"store.url_env"}},
		"no database": {url + "x", nil, []string{"store.url_env"}},
		"asynchronous": {url, []string{"-c", "store.require_sync_standby=true"},
			[]string{"store.require_sync_standby"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, t.TempDir(), c.url, c.args...)
			cmd.Stderr = nil
			out, err := cmd.CombinedOutput()
			require.Error(t, err)
			for _, text := range c.want {
				require.Contains(t, string(out), text)
			}
		})
	}
}

// TestUnusablePortsAreRefusedBeforeTheServerJoins names the key, and leaves no node in the fleet.
func TestUnusablePortsAreRefusedBeforeTheServerJoins(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	for key, args := range map[string][]string{
		"fleet.listen":     {"-c", "fleet.listen=ws://192.0.2.1:4600"},
		"fleet.address":    {"-c", "fleet.listen=ws://0.0.0.0:0"},
		"fleet.cert":       {"-c", "fleet.listen=wss://127.0.0.1:0"},
		"fleet.secret_env": {"-c", "fleet.listen=ws://127.0.0.1:0", "-c", "fleet.secret_env=NO_SUCH_VARIABLE"},
	} {
		cmd := command(t, t.TempDir(), url, args...)
		cmd.Env = append(cmd.Env, "APPSERVER_FLEET_SECRET="+secret)
		cmd.Stderr = nil
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), key+": ")
	}
	require.Contains(t, store(t, t.TempDir(), url, "status"), "servers: none\n")
}

// TestAServerListensForOtherServers opens the port with TLS, and reads its metrics and diagnostics.
func TestAServerListensForOtherServers(t *testing.T) {
	t.Parallel()
	authority := apptest.NewAuthority(t)
	cert, key := authority.Issue(t, "127.0.0.1", -time.Hour, time.Hour)
	home, address := t.TempDir(), apptest.FreeAddress(t)
	cmd := command(t, home, pgtest.Database(t), "-c", "fleet.listen=wss://"+address, "-c", "fleet.cert="+cert, "-c",
		"fleet.key="+key, "-c", "fleet.ca="+authority.File)
	cmd.Env = append(cmd.Env, "APPSERVER_FLEET_SECRET="+secret)
	n := apptest.StartProcess(t, cmd)
	n.Initialize()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: authority.Client(), DisableKeepAlives: true}}
	id := n.StartTrusted()
	n.BeginTurn(id, "run: env")
	n.UntilMethod("turn/completed")
	require.NotContains(t, string(n.Call("context/getItems", apptest.Object{"threadId": id})), secret)
	answer, err := client.Get("https://" + address + "/metrics")
	require.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, errors.Join(err, answer.Body.Close()))
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Regexp(t, `appserver_appends_total [1-9]`, string(text))
	require.Regexp(t, `appserver_threads_owned 1\n`, string(text))
	require.Contains(t, string(text), "appserver_database_sync_standby 0\n")
	fleet := gjson.GetBytes(n.Call("server/diagnostics", apptest.Object{}), "fleet")
	require.Equal(t, "wss://"+address, fleet.Get("address").Str)
	require.True(t, fleet.Get("encrypted").Bool())
	require.Equal(t, fleet.Get("node").Str, fleet.Get("nodes.0.node").Str)
	require.Positive(t, fleet.Get("appends").Int())
	require.Positive(t, fleet.Get("appendMeanMs").Float())
	require.Positive(t, fleet.Get("appendP99Ms").Float())
	require.True(t, fleet.Get("failedRenewals").Exists())
	require.Positive(t, fleet.Get("leaseLeftMs").Int())
	n.Close()
}

// secret is the secret of the fleet.
const secret = "0123456789abcdef0123456789abcdef"

// TestAFrozenNodeLosesItsThreads suspends a server during a command until another one has its thread.
func TestAFrozenNodeLosesItsThreads(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	first, second := newNode(t, url), newNode(t, url)
	id := first.StartTrusted()
	first.BeginTurn(id, "run: sleep 612")
	first.UntilMethod("item/started")
	running := apptest.WithDescendants(t, first.Cmd.Process.Pid)[1:]
	first.Signal(posix.SIGSTOP)
	require.Eventually(t, func() bool {
		return second.Request("thread/resume", apptest.Object{"threadId": id}).Error == nil
	}, 40*time.Second, 100*time.Millisecond)
	second.Turn(id, "say hello")
	first.Signal(posix.SIGCONT)
	first.UntilMethod("thread/closed")
	ended := func() bool { return !slices.ContainsFunc(running, isAlive) }
	require.Eventually(t, ended, 5*time.Second, 10*time.Millisecond, "the command of the stale owner runs")
	require.Equal(t, "threadLocked", first.CallRejected("thread/resume", apptest.Object{"threadId": id}).Data.Kind)
	view := second.ReadThread(id)
	require.Equal(t, []string{"interrupted", "completed"}, []string{view.Turns[0].Status, view.Turns[1].Status})
	require.Equal(t, "completed", second.Turn(id, "say more").Status)
	second.Close()
	first.Call("thread/resume", apptest.Object{"threadId": id})
	require.Len(t, first.ReadThread(id).Turns, 3)
}

// isAlive reports whether a process runs.
func isAlive(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(status), ") Z ")
}

// TestAThawedNodeAnswersNothingStale suspends a server until another one has continued its thread. Requests
// that waited meanwhile see the continuation.
func TestAThawedNodeAnswersNothingStale(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	first, second := newNode(t, url), newNode(t, url)
	id := first.StartTrusted()
	first.Turn(id, "say hello")
	first.Signal(posix.SIGSTOP)
	require.Eventually(t, func() bool {
		return second.Request("thread/resume", apptest.Object{"threadId": id}).Error == nil
	}, 40*time.Second, 100*time.Millisecond)
	second.Turn(id, "say more")
	second.Call("context/setInclusion", apptest.Object{"threadId": id, "indices": []int{1}, "included": false})
	read := first.SendRequest("thread/read", apptest.Object{"threadId": id, "includeTurns": true})
	items := first.SendRequest("context/getItems", apptest.Object{"threadId": id})
	first.Signal(posix.SIGCONT)
	responses := first.UntilResponses(read, items)
	require.Len(t, gjson.GetBytes(responses[read].Result, "thread.turns").Array(), 2)
	require.EqualValues(t, 1, gjson.GetBytes(responses[items].Result, "revision").Int())
}

// TestACommitInDoubtIsResolved cuts the connection to the database after it has stored an input, before it
// can say so. The input is stored once.
func TestACommitInDoubtIsResolved(t *testing.T) {
	t.Parallel()
	url, link := pgtest.Database(t), partition.New(t, "unix", pgtest.Shared(t).Socket())
	n := apptest.StartProcess(t, command(t, t.TempDir(), pgtest.Through(t, url, link.Address()),
		"-c", "store.timeout_ms=5000"))
	n.Initialize()
	id := n.StartTrusted()
	n.Turn(id, "say hello")
	link.CutAnswers(2, "the first doubt", false) // also that of the first repeat
	require.Equal(t, "completed", n.Turn(id, "the first doubt").Status)
	link.CutAnswers(1, "the second doubt", true)
	n.SendRequest("turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput("the second doubt")})
	n.Until(func(m apptest.Message) bool { return m.Error != nil || m.Method == "thread/closed" })
	link.Heal()
	require.Eventually(t, func() bool {
		return n.Request("thread/resume", apptest.Object{"threadId": id}).Error == nil
	}, 40*time.Second, 100*time.Millisecond)
	require.Equal(t, "completed", n.Turn(id, "say more").Status)
	var inputs []string
	for _, item := range apptest.ItemsOf(n.ReadThread(id)) {
		if gjson.Get(item, "type").Str == "userMessage" {
			inputs = append(inputs, gjson.Get(item, "content.0.text").Str)
		}
	}
	require.Equal(t, []string{"say hello", "the first doubt", "the second doubt", "say more"}, inputs)
}
