package workbench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"appserver/test/apptest"
	"appserver/test/sample"

	"github.com/stretchr/testify/require"
)

// TestHostileTextInTabsIsShownAsText puts payloads into names and lines of changed files, findings of a
// review, memories, the output of a background command, MCP servers and configuration values. The tabs
// and the settings show them as text.
func TestHostileTextInTabsIsShownAsText(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	needChromium(t)
	home, payloads, dir := t.TempDir(), hostilePayloads(t), repository(t, map[string]string{"a.txt": "a\n"})
	configuration := fmt.Sprintf("developer_instructions = %s\n[memory]\nsummarize_on_prune = true\ninject = true\n"+
		"[mcp_servers.%s]\ncommand = %s\n", tomlString(payloads[0]), tomlString(payloads[1]), tomlString("/"+payloads[0]))
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(configuration), 0o600))
	script := writeScript(t, home, object{"steps": hostileSteps(t, dir, payloads)})
	remember(t, home, dir, script, payloads)
	w := serve(t, home, "-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access",
		"-c", "model_providers.offline.script="+script).open(t)
	w.click(".thread")
	w.see(".timeline article")
	w.send("start")
	w.seeText(".message.agent", "Started.")
	w.gone(".composer .stop")
	w.press("3", alt)
	w.scope(":Whole thread")
	w.see(".tree-row.file")
	w.see(".finding")
	seen := eval[int](w, `(async () => {
		const names = new Set();
		const list = document.querySelector(".diff-list");
		for (let i = 0; i < 400; i++) {
			for (const row of list.querySelectorAll(".tree-row.file")) {
				names.add(row.id);
				if (row.getAttribute("aria-expanded") === "false") row.click();
			}
			const before = list.scrollTop;
			list.scrollBy(0, 300);
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			if (list.scrollTop === before) break;
		}
		return names.size;
	})()`)
	require.GreaterOrEqual(t, seen, len(payloads)-1)
	w.seeText(".tree-name", hostileName(0, payloads[0]))
	w.seeText(".finding-title", payloads[0])
	w.harmless("changes")
	w.clickIn(".side-head .segments button", "Split")
	w.see(".diff-list .row")
	w.harmless("changes, split")
	w.press("4", alt)
	w.see(".point")
	w.openRevert("start")
	w.see(".revert-effect summary")
	eval[bool](w, `([...document.querySelectorAll(".revert-effect summary")].forEach((s) => s.click()), true)`)
	w.see(".revert-effect .diff-row")
	w.harmless("revert")
	w.press("\x1b")
	w.gone("dialog")
	w.press("5", alt)
	w.see(".memory")
	eval[bool](w, `([...document.querySelectorAll(".memory .fold-title")].forEach((s) => s.click()), true)`)
	w.seeText(".memory-body", payloads[0])
	w.harmless("memory")
	w.press("6", alt)
	w.seeText(".terminal .output", "the end of the payloads")
	w.seeText(".terminal .output", payloads[0])
	require.False(t, eval[bool](w, `document.querySelector(".panel").textContent.includes("\u001b")`))
	w.harmless("terminals")
	w.openSettings("Configuration")
	w.seeText("dialog td", strings.TrimSpace(strings.Split(payloads[0], "\n")[0]))
	w.harmless("configuration")
	w.clickIn("dialog [role=tab]", "MCP servers")
	w.seeText("dialog td strong", payloads[1])
	w.see("dialog td .error-text")
	w.harmless("MCP servers")
}

// harmless fails the test if a text of the page was more than text, or than a link to a page in a tab of its own.
func (w *workbench) harmless(where string) {
	w.t.Helper()
	require.Empty(w.t, eval[[]string](w, "[...violations]"), where)
	require.Zero(w.t, eval[int](w,
		`document.querySelectorAll("script:not([src^='/']), iframe, object, embed, base, form[action], .panel img, dialog img").length`), where)
	require.Empty(w.t, eval[[]string](w, `[...document.querySelectorAll(".panel a[href], dialog a[href]")]
		.filter((a) => !/^https?:/.test(a.href) || a.target !== "_blank" || !a.relList.contains("noopener"))
		.map((a) => a.getAttribute("href")).filter((h) => !h.startsWith("#/thread/"))`), where)
	w.requireNoProblems()
	w.requireOwnRequests()
}

// tomlString quotes a text for a configuration file.
func tomlString(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// hostileName makes a name of a file from a payload.
func hostileName(i int, payload string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == '/' {
			return '_'
		}
		return r
	}, payload)
	return fmt.Sprintf("%d %.80s", i, name)
}

// hostileSteps returns a turn that changes files and starts a command in the background, and a review.
func hostileSteps(t *testing.T, dir string, payloads []string) []object {
	t.Helper()
	var files strings.Builder
	output, findings := "printf '%s\\n'", []object{}
	for i, payload := range payloads {
		fmt.Fprintf(&files, "*** Add File: %s\n+%s\n", hostileName(i, payload), strings.ReplaceAll(payload, "\n", "\n+"))
		if len(payload) < 1000 {
			output += " '" + strings.ReplaceAll(payload, "'", `'\''`) + "'"
		}
		findings = append(findings, object{"title": payload, "body": payload, "confidence_score": 1, "priority": 1,
			"code_location": object{"absolute_file_path": filepath.Join(dir, hostileName(i, payload)),
				"line_range": object{"start": 1, "end": 1}}})
	}
	result, err := json.Marshal(object{"findings": findings, "overall_correctness": "x", "overall_explanation": payloads[0],
		"overall_confidence_score": 1})
	require.NoError(t, err)
	return []object{{"match": "untracked", "text": string(result)}, patch("start", files.String()),
		background("start", output+" 'the end of the payloads'; sleep 600"), {"match": "start", "text": "Started."}}
}

// remember runs turns with payloads and a review, and trims the turns, so that they are remembered.
func remember(t *testing.T, home, dir, script string, payloads []string) {
	t.Helper()
	c := apptest.StartOffline(t, home, "-c", "model_providers.offline.script="+script)
	id := c.StartThread(apptest.Object{"cwd": dir, "approvalPolicy": "never", "sandbox": "danger-full-access"})
	for _, payload := range payloads[:min(8, len(payloads))] {
		c.Turn(id, payload)
	}
	c.Call("review/start", apptest.Object{"threadId": id, "target": apptest.Object{"type": "uncommittedChanges"}})
	c.UntilMethod("turn/completed")
	c.Call("thread/context/trim", apptest.Object{"threadId": id, "keepLastNTurns": 2})
	c.UntilMethod("memory/updated")
	c.Close()
}
