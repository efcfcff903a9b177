package workbench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

// scripted returns a call of a tool by a script.
func scripted(name string, arguments object) object {
	return object{"name": name, "arguments": arguments}
}

// team opens a thread whose agent has started two others: one counts files, the other asks before it removes a folder.
func team(t *testing.T) (w *workbench, folder string) {
	home := t.TempDir()
	script := object{"steps": []any{
		object{"match": "Tidy up", "toolCalls": []any{
			scripted("spawn_agent", object{"message": "Count the files.\nLook into all folders."}),
			scripted("spawn_agent", object{"message": "Remove the cache.", "fork_context": false})}},
		object{"match": "Count the files.", "text": "There are **three** files.\n\nAll of them are small."},
		object{"match": "Remove the cache.", "toolCalls": []any{scripted("shell", object{"command": "rm -rf cache"})}},
		object{"match": "Remove the cache.", "text": "The cache is gone."},
		object{"match": "Tidy up", "text": "Two agents work on it."},
		object{"match": "Finish", "toolCalls": []any{
			scripted("wait_agent", object{"targets": []string{"{{agent 1}}"}}),
			scripted("send_input", object{"target": "{{agent 1}}", "message": "Thank you."}),
			scripted("close_agent", object{"target": "{{agent 2}}"}),
			scripted("close_agent", object{"target": "01a2240c-0000-7000-8000-000000000000"})}},
		object{"match": "Thank you.", "text": "You are welcome."},
		object{"match": "Finish", "text": "All is done."},
	}}
	w = serve(t, home, "-c", "model_providers.offline.script="+writeScript(t, home, script), "-c", "model=priced",
		"-c", "model_prices.priced.input=2", "-c", "model_prices.priced.output=10",
		"-c", "approval_policy=on-request", "-c", "sandbox_mode=danger-full-access").open(t)
	folder = t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "cache"), 0o755))
	w.start(folder)
	w.send("Tidy up the project.")
	w.seeText(".message.agent", "Two agents work on it.")
	return w, folder
}

// TestTeamIsShownWhileItWorks starts two agents. Cards have their tasks, states and results; the row above the
// conversation has their prices. The question of one is answered here, and the page says who asks.
func TestTeamIsShownWhileItWorks(t *testing.T) {
	w, folder := team(t)
	w.await(`document.querySelectorAll(".agent-call").length === 2`)
	w.seeText(".agent-call", "Task: Count the files.")
	w.seeText(".agent-call .phase", "done")
	w.seeText(".agent-call", "Result: There are three files.")
	w.seeText(".agent-call .phase", "asks you")
	w.await(`/ tokens · 0\.0/.test(document.querySelector(".agent-chip")?.textContent)`)
	w.await(`/^Together \d[\d.]*K tokens · 0\.0/.test(document.querySelector(".team-sum").textContent)`)
	w.seeText(".question-asker", "Tidy up the project. › ")
	w.seeText(".question", "rm -rf cache")
	require.Equal(t, 1, w.count(".thread-row:not([style])"), "agents are no threads of the first level")
	require.Equal(t, 2, w.count(".thread-row[style]"))
	w.seeText(".thread-row .dot-waiting", "waits for you")
	w.shot("team")
	w.accessible("team")
	w.clickIn(".agent-call .fold-title", "Result:")
	w.seeText(".agent-call .markdown strong", "three")
	w.enabled()
	w.clickIn(".question button", "Allow once")
	w.gone(".question")
	w.await(`document.querySelectorAll(".agent-call .phase.dot-calm").length === 2`)
	require.NoDirExists(t, filepath.Join(folder, "cache"))
	w.seeText(".context-item", "Result of ")
	w.requireNoProblems()
}

// TestAgentsAreInformedAwaitedAndClosed shows the calls of the second turn, also after a reload. One of them failed.
func TestAgentsAreInformedAwaitedAndClosed(t *testing.T) {
	sample.Long(t)
	w, _ := team(t)
	w.enabled()
	w.clickIn(".question button", "Decline")
	w.gone(".question")
	w.send("Finish the work.")
	w.seeText(".message.agent", "All is done.")
	for range 2 {
		for _, text := range []string{"Waited for ", "Informed ", "Closed ", "Not closed: agent …0000"} {
			w.seeText(".agent-call .line", text)
		}
		w.seeText(".agent-call .agent-failure", "agent with id 01a2240c-0000-7000-8000-000000000000 not found")
		w.seeText(".agent-chip .phase", "closed")
		w.seeText(".agent-call", "Message: Thank you.")
		w.shot("team-calls")
		w.accessible("calls of agents")
		w.reload()
	}
	w.seeText(".agent-chip .phase", "done")
	w.requireNoProblems()
}

// TestAgentsHaveThreadsWithALinkToTheirParent opens an agent from the row, from a card, from the list, and from its
// result in the context, by keys as well. Its page leads back.
func TestAgentsHaveThreadsWithALinkToTheirParent(t *testing.T) {
	sample.Long(t)
	w, _ := team(t)
	parent := eval[string](w, "location.hash")
	back := func() {
		w.seeText(".team-parent", "is an agent of Tidy up the project.")
		require.NotEqual(t, parent, eval[string](w, "location.hash"))
		w.click(".team-parent a")
		w.await(fmt.Sprintf("location.hash === %q", parent))
		w.seeText(".message.agent", "Two agents work on it.")
	}
	w.click(".agent-chip")
	w.seeText(".message.user", "Count the files.")
	w.seeText(".message.user .who", "Task")
	w.accessible("an agent")
	w.shot("team-agent")
	back()
	w.click(".agent-call a.agent-open")
	back()
	w.click(".thread-row[style] a.thread")
	back()
	w.click(".context-item .agent-badge")
	back()
	w.focusItem("Result of ")
	w.press(kb.Enter)
	w.clickIn(".details a", "Open the agent's thread")
	back()
	w.click(".question-asker a")
	w.seeText(".message.user", "Remove the cache.")
	w.seeText(".question-asker", " asks")
	require.Equal(t, 0, w.count(".question-asker a"), "the question is of the open thread")
	w.menu("1 open question", "Tidy up the project. › ")
	back()
	w.requireNoProblems()
}

// TestAgentsFoldInTheListOfThreads folds the agents below their parent. The head counts those that wait. They come
// back after a reload, because one waits.
func TestAgentsFoldInTheListOfThreads(t *testing.T) {
	sample.Long(t)
	w, _ := team(t)
	w.seeText(".thread-row .dot-waiting", "waits for you")
	w.clickIn(".thread-team", "2 agents")
	w.await(`document.querySelectorAll(".thread-row[style]").length === 0`)
	w.seeText(".thread-team", "1 waits for you")
	w.shot("team-folded")
	w.accessible("folded agents")
	w.reload()
	w.await(`document.querySelectorAll(".thread-row[style]").length === 2`)
	w.seeText(".question-asker", "Tidy up the project. › ")
	eval[bool](w, `(document.querySelector("a.thread").focus(), true)`)
	w.press(kb.ArrowDown)
	w.await(`document.activeElement.matches(".thread-team[aria-expanded=true]")`)
	w.press(kb.ArrowDown)
	w.await(`document.activeElement.matches(".thread-row[style] a.thread")`)
	w.requireNoProblems()
}

// TestTeamFitsNarrowPages has no sideways scrolling at 300 pixels, in both themes.
func TestTeamFitsNarrowPages(t *testing.T) {
	sample.Long(t)
	w, _ := team(t)
	w.seeText(".agent-call .phase", "asks you")
	w.seeText(".question-asker", "Tidy up")
	w.seeText(".team-sum", "Together ")
	w.size(300, 900, 1)
	w.await(`document.documentElement.scrollWidth <= innerWidth`)
	w.await(`[...document.querySelectorAll(".agent-call, .question, .team")].every((e) => e.getBoundingClientRect().right <= innerWidth)`)
	w.shot("team-narrow")
	w.accessible("team, narrow")
	w.size(1280, 800, 1)
	w.theme("dark")
	w.shot("team-dark")
	w.accessible("team, dark")
	w.requireNoProblems()
}

// TestManyAgentsAreShownOnDemand starts ten agents. The row shows the newest, and all of them after a click.
func TestManyAgentsAreShownOnDemand(t *testing.T) {
	sample.Long(t)
	home := t.TempDir()
	var calls []any
	for i := range 10 {
		calls = append(calls, scripted("spawn_agent", object{"message": fmt.Sprintf("Part %d.", i+1)}))
	}
	script := object{"steps": []any{object{"match": "Share it", "toolCalls": calls},
		object{"match": "Share it", "text": "Ten agents work on it."}}}
	w := serve(t, home, "-c", "model_providers.offline.script="+writeScript(t, home, script), "-c", "agents.max_threads=12").
		open(t)
	w.start(t.TempDir())
	w.send("Share it among ten.")
	w.await(`document.querySelectorAll(".agent-chip .dot-calm").length === 8`)
	w.clickIn(".team button", "Show all 10 agents")
	w.await(`document.querySelectorAll(".agent-chip").length === 10 && !document.querySelector(".team button")`)
	w.clickIn(".thread-team", "10 agents")
	w.await(`document.querySelectorAll(".thread-row[style]").length === 0`)
	w.shot("team-many")
	w.accessible("many agents")
	w.requireNoProblems()
}
