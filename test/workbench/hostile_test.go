package workbench

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestHostileTextIsShownAsText puts payloads into messages, reasoning, commands, outputs, patches, file
// names and thread names. The page shows them as text: no dialog opens, nothing is requested from other
// hosts, the Content-Security-Policy blocks nothing, and links lead to http or https only.
func TestHostileTextIsShownAsText(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	needChromium(t)
	home, payloads := t.TempDir(), hostilePayloads(t)
	converse(t, home, payloads)
	w := serve(t, home).open(t)
	w.clickText("case 0")
	w.see(".timeline article")
	eval[bool](w, collectTexts)
	w.scrollThrough(".timeline", -500, `list.scrollTop === 0 && seenTexts.has("case 0")`)
	for i := range payloads {
		require.True(t, eval[bool](w, fmt.Sprintf(`seenTexts.has("case %d")`, i)), "case %d is not shown", i)
	}
	w.await(`document.querySelector(".context-item") !== null`)
	w.scrollThrough(".context-list", 600, atEnd)
	w.fill(findField, "<")
	w.see(".context-item mark")
	w.scrollThrough(".context-list", 600, atEnd)
	w.clickIn(".segments.views button", "Map")
	w.drag(".map-box", 0.05, 0.5, 0.95, 0.5)
	w.see(".map-actions")
	w.menu("Edit the context", "Show prompts")
	w.see(".prompt-parts article")
	eval[bool](w, `(document.querySelectorAll(".part-title[aria-expanded=false]").forEach((b) => b.click()), true)`)
	w.scrollThrough(".prompt-parts", 600, atEnd)
	w.clickIn("dialog button", "Close")
	w.menu("Edit the context", "Compact")
	w.clickIn("label.option", "Your messages only")
	w.choose("dialog select", "all")
	w.clickText("Review the draft")
	w.see(".draft-losses li")
	w.scrollThrough(".draft-items", 600, atEnd)
	require.Empty(t, eval[[]string](w, `[...badLinks]`))
	require.NotZero(t, eval[int](w, "goodLinks"))
	require.Empty(t, eval[[]string](w, "[...violations]"))
	w.requireNoProblems()
	w.requireOwnRequests()
	require.Zero(t, eval[int](w, `document.querySelectorAll("script:not([src^='/']), iframe, object, embed, base, form[action]").length`))
}

// atEnd is true when a list is scrolled to its end.
const atEnd = "list.scrollTop + list.clientHeight >= list.scrollHeight - 1"

// scrollThrough scrolls through a list by pixels until an expression is true. It gives the page a frame after
// each step, so that each row is shown once. If the page has openAll, it opens what is mounted.
func (w *workbench) scrollThrough(selector string, pixels int, done string) {
	w.t.Helper()
	script := fmt.Sprintf(`(async () => {
		const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
		for (let step = 0; step < 20; step++) {
			window.openAll?.();
			await frame();
			const list = document.querySelector(%q);
			list.scrollBy(0, %d);
			await frame();
			window.openAll?.();
			if (%s) return true;
		}
		return false;
	})()`, selector, pixels, done)
	for steps := 0; !eval[bool](w, script); steps++ {
		require.Less(w.t, steps, 1000, "%s has no end", selector)
	}
}

// collectTexts opens all parts of what is mounted, and collects texts and links.
const collectTexts = `{
	window.seenTexts = new Set();
	window.badLinks = new Set();
	window.goodLinks = 0;
	window.openAll = () => {
		for (const b of document.querySelectorAll("main [aria-expanded=false], .context-item [aria-label='Show details']")) {
			if (!b.matches("[aria-haspopup]")) b.click();
		}
		for (const [text] of document.querySelector(".timeline").textContent.matchAll(/case \d+/g)) seenTexts.add(text);
		for (const a of document.querySelectorAll("a[href]")) {
			if (a.closest(".threads")) continue;
			const good = /^https?:$/.test(a.protocol) && a.rel === "noopener noreferrer" && a.target === "_blank";
			if (good) goodLinks++;
			else badLinks.add(a.outerHTML);
		}
	};
} true`

func hostilePayloads(t *testing.T) (payloads []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/hostile.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &payloads))
	return append(payloads, strings.Repeat("A", 20_000), strings.Repeat("> ", 500)+"deep", strings.Repeat("[", 5000),
		strings.Repeat("**a ", 2000), strings.Repeat("- a\n  ", 200))
}

// converse runs a turn for each payload.
func converse(t *testing.T, home string, payloads []string) {
	t.Helper()
	type object = map[string]any
	steps := []object{}
	for i, payload := range payloads {
		quoted := "'" + strings.ReplaceAll(payload, "'", `'\''`) + "'"
		file := strings.Map(func(r rune) rune {
			if r < ' ' || r == '/' {
				return '_'
			}
			return r
		}, payload)
		patch := fmt.Sprintf("*** Begin Patch\n*** Add File: %d %.80s\n+%s\n*** End Patch\n", i, file,
			strings.ReplaceAll(payload, "\n", "\n+"))
		match := fmt.Sprintf("case %d.", i)
		steps = append(steps, object{"match": match, "reasoning": payload, "text": payload, "toolCalls": []object{
			{"name": "shell", "arguments": object{"command": "printf %s " + quoted}},
			{"name": "apply_patch", "arguments": object{"input": patch}},
			{"name": payload[:min(40, len(payload))], "arguments": object{"x": payload}},
		}}, object{"match": match, "text": "The end. " + payload})
	}
	path := writeScript(t, home, object{"steps": steps})
	c := apptest.StartOffline(t, home, "-c", "model_providers.offline.script="+path)
	cwd := t.TempDir()
	id := c.StartThread(apptest.Object{"cwd": cwd, "approvalPolicy": "never", "sandbox": "danger-full-access"})
	for i, payload := range payloads {
		c.Turn(id, fmt.Sprintf("case %d. %s", i, payload))
	}
	for _, name := range payloads[:3] {
		other := c.StartThread(apptest.Object{"cwd": cwd})
		c.Turn(other, name)
		c.Call("thread/name/set", apptest.Object{"threadId": other, "name": name})
	}
	c.Close()
}
