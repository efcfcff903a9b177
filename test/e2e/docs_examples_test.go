package e2e

import (
	"cmp"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// shownDocs have examples of methods. After a comment that names a method is a block with its first
// request in a transcript, the response, and the notifications that it caused. The transcript is
// that of the document, or the one in the comment.
var shownDocs = []struct {
	name, transcript string
	methods          []string
}{
	{"context.md", "context", []string{
		"context/getItems", "context/readItem", "context/getUsage", "context/setInclusion",
		"context/pruneByIndices", "context/prune", "context/pin", "context/replace",
		"context/preview", "context/apply", "context/getPrompt", "context/undo", "context/redo", "context/goto", "context/listEdits",
		"context/restore"}},
	{"economy.md", "context_suggest", []string{"context/suggest"}},
	{"prompts.md", "usage", []string{"thread/usage/list", "context/getPrompt"}},
	{"trim-and-compact.md", "story_sessions", []string{
		"thread/context/trim", "thread/context/summarize", "thread/timeline/list", "thread/compact/start",
		"thread/compact/propose", "thread/compact/commit"}},
	{"diffs.md", "checkpoint", []string{
		"thread/diff/read", "thread/checkpoint/list", "thread/checkpoint/diff", "thread/checkpoint/revert"}},
	{"approvals.md", "approval_accept", []string{"serverRequest/list"}},
	{"threads.md", "story_threads", []string{
		"thread/list", "thread/search", "thread/turns/list", "thread/items/list", "thread/fork", "thread/revert",
		"thread/revert/undo"}},
}

var exampleBlocks = regexp.MustCompile("(<!-- example: (\\S+)(?: in (\\S+))? -->\n```text\n)(?:[^`]|`[^`])*(```\n)")

// TestDocsExamplesEqualTranscripts compares the examples with the transcripts; -update rewrites
// them.
func TestDocsExamplesEqualTranscripts(t *testing.T) {
	for _, d := range shownDocs {
		path := apptest.Root("docs", d.name)
		doc, err := os.ReadFile(path)
		require.NoError(t, err)
		shown := map[string]bool{}
		want := exampleBlocks.ReplaceAllStringFunc(string(doc), func(block string) string {
			parts := exampleBlocks.FindStringSubmatch(block)
			shown[parts[2]] = true
			return parts[1] + example(t, cmp.Or(parts[3], d.transcript), parts[2]) + parts[4]
		})
		for _, method := range d.methods {
			require.True(t, shown[method], "%s shows no example of %s", d.name, method)
		}
		if *apptest.Update {
			require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
			continue
		}
		require.Equal(t, want, string(doc))
	}
}

// example returns the first exchange of a method in a transcript, shortened.
func example(t *testing.T, transcript, method string) string {
	t.Helper()
	archive, err := txtar.ParseFile(apptest.Root("cmd/appserver/internal/app/testdata", transcript+".txtar"))
	require.NoError(t, err)
	transcriptFile := archive.Files[len(archive.Files)-1]
	require.Equal(t, "transcript", transcriptFile.Name)
	var b strings.Builder
	for line := range strings.Lines(apptest.Unfold(string(transcriptFile.Data))) {
		line = strings.TrimSpace(line)
		ours := strings.HasPrefix(line, "-> ")
		switch {
		case ours && b.Len() > 0:
			return b.String()
		case ours && !strings.Contains(line, `"method":"`+method+`"`), !ours &&
			(b.Len() == 0 || !strings.HasPrefix(line, "<- ")):
			continue
		}
		b.WriteString(line[:3] + shortened(line[3:], method) + "\n")
	}
	require.NotEmpty(t, b.String(), "%s has no %s", transcript, method)
	return b.String()
}

var (
	envelope = regexp.MustCompile(`"jsonrpc":"2\.0",|,"emittedAtMs":\d+`)
	usages   = regexp.MustCompile(`("usage"|"before"|"after"):\{"totalTokens":[^\]]*\]\}`)
	ofPrompt = regexp.MustCompile(`"promptTokens":(\d+)`)
	prompts  = regexp.MustCompile(`"content":"(You are a coding agent\.)(?:[^"\\]|\\.)*"`)
	threads  = regexp.MustCompile(`"environments":[^"]*(?:"\w+":(?:"[^"]*"|\["/"\])[^"]*)*?"extra":null,"sessionId":"[^"]*",("forkedFromId":[^,]*),"attachedToThreadId":null,"parentThreadId":null,("preview":"(?:[^"\\]|\\.)*"),"ephemeral":.*?"contextTrimPoints":\[[^\]]*\]\}`)
	cursors  = regexp.MustCompile(`("(?:cursor|nextCursor|backwardsCursor)":"\w{6})\w{6,}"`)
	tools    = regexp.MustCompile(`"tools":\[.*\],"tokens"`)
)

// shortened leaves out of a message what other examples show already, and puts each
// item on a line.
func shortened(message, method string) string {
	message = strings.ReplaceAll(envelope.ReplaceAllString(message, ""), "00000000-0000-7000-8000-", "…")
	if method != "context/getUsage" {
		message = usages.ReplaceAllStringFunc(message, func(usage string) string {
			name, _, _ := strings.Cut(usage, ":")
			return name + `:{…,` + ofPrompt.FindString(usage) + `,…}`
		})
	}
	message = cursors.ReplaceAllString(threads.ReplaceAllString(message, "$1,$2,…}"), `$1…"`)
	message = tools.ReplaceAllString(prompts.ReplaceAllString(message, `"content":"$1…"`), `"tools":[…],"tokens"`)
	if strings.Contains(message, `"method":"ContextItems"`) && method != "context/setInclusion" {
		return `{"method":"ContextItems",…}`
	}
	return strings.NewReplacer(`},{"`, "},\n     {\"", `":[{"`, "\":[\n     {\"").Replace(message)
}
