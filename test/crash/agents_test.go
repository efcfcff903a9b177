package crash

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

var agentKills = flag.Int("agents.kills", 15, "number of kills in TestCrashKeepsAgents")

// crashTeam is a thread with agents in a home whose servers are killed.
type crashTeam struct {
	*apptest.Client
	t    *testing.T
	home string
	tree apptest.ProcessTree
	// parent is the thread, or "".
	parent string
	// started are the agents that clients know of.
	started map[string]bool
	// turns are the open turns of the parent and of agents whose work has an end. endless are the commands without an
	// end that have not begun.
	turns, endless int
}

// TestCrashKeepsAgents kills servers at random moments while agents start, work and end. The next server has each agent
// that a client knew of. It tells their parent of each one's end, no agent works, and no process of an agent remains.
func TestCrashKeepsAgents(t *testing.T) {
	t.Parallel()
	s := &crashTeam{t: t, home: apptest.NewScriptedModel(t).Home(t), tree: apptest.NewProcessTree()}
	rng := rand.New(rand.NewPCG(1, 2))
	for kill := range sampled(*agentKills) {
		s.Client = apptest.StartServer(t, s.home, "-c", "agents.max_threads=64")
		s.Initialize()
		if kill%8 == 0 {
			s.parent = s.StartTrusted()
			s.started = map[string]bool{}
		} else {
			s.settle()
		}
		s.BeginTurn(s.parent, s.script(rng))
		for left := rng.IntN(120); left > 0 && s.turns+s.endless > 0; left-- {
			s.observe(s.Next())
		}
		s.Kill()
		require.Eventually(t, func() bool { return len(s.tree.Alive(t)) == 0 }, apptest.Timeout, 10*time.Millisecond)
	}
}

// script returns an input for the parent: it starts agents, some of which run commands, and waits for one that ends.
func (s *crashTeam) script(rng *rand.Rand) string {
	s.turns, s.endless = 1, 0
	var answers [][]apptest.ToolCall
	awaited := -1
	for i := range 1 + rng.IntN(3) {
		task := "answer"
		switch rng.IntN(3) {
		case 0:
			task = apptest.ScriptText(apptest.ShellCall(s.tree.Script()))
			s.endless++
		case 1:
			task = apptest.ScriptText(apptest.ShellCall("sleep 0.1"))
			fallthrough
		default:
			s.turns++
			awaited = len(s.started) + i
		}
		answers = append(answers, apptest.SpawnCall(task, nil))
	}
	if awaited >= 0 {
		answers = append(answers, apptest.AwaitCall(apptest.Agent(awaited)))
	}
	return apptest.ScriptText(answers...)
}

// observe notes what a message says about agents.
func (s *crashTeam) observe(m apptest.Message) {
	item := gjson.GetBytes(m.Params, "item")
	if m.Method == "item/completed" && item.Get("tool").Str == "spawnAgent" && item.Get("status").Str == "completed" {
		s.started[item.Get("receiverThreadIds.0").Str] = true
	}
	switch {
	case m.Method == "turn/completed":
		s.turns--
	case m.Method == "item/started" && strings.Contains(item.Get("command").Str, s.tree.Token):
		s.endless--
	}
}

// settle resumes the parent, and waits until it knows of the end of each agent.
func (s *crashTeam) settle() {
	require.Eventually(s.t, func() bool { // a program that was being started holds the lock until it runs
		answer := s.Request("thread/resume", apptest.Object{"threadId": s.parent})
		return answer.Error == nil
	}, apptest.Timeout, 20*time.Millisecond)
	missing := func() (ids []string) {
		reported := map[string]bool{}
		for _, item := range s.ContextList(s.parent).Items {
			if item.AgentThreadID != nil {
				reported[*item.AgentThreadID] = true
			}
		}
		for id := range s.started {
			if !reported[id] {
				ids = append(ids, id)
			}
		}
		return ids
	}
	require.Eventually(s.t, func() bool { return len(missing()) == 0 }, apptest.Timeout, 20*time.Millisecond)
	children := s.Children(s.parent)
	for id := range s.started {
		require.Contains(s.t, children, id)
	}
	for _, id := range children {
		turns := s.ReadThread(id).Turns
		for _, turn := range turns {
			require.NotEqual(s.t, "inProgress", turn.Status, id)
		}
	}
}
