package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// contextDoc shows messages of testdata/context.txtar: behind each comment that names a
// method stands a block with the first request of the method, its answer, and what it
// makes the server tell.
const contextDoc = "../../docs/context.md"

var exampleBlocks = regexp.MustCompile("(<!-- example: (\\S+) -->\n```text\n)(?:[^`]|`[^`])*(```\n)")

// TestDocsShowTheContextMethods compares the examples with the transcript; -update
// rewrites them.
func TestDocsShowTheContextMethods(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/context.txtar")
	require.NoError(t, err)
	doc, err := os.ReadFile(contextDoc)
	require.NoError(t, err)
	shown := map[string]bool{}
	want := exampleBlocks.ReplaceAllStringFunc(string(doc), func(block string) string {
		parts := exampleBlocks.FindStringSubmatch(block)
		shown[parts[2]] = true
		return parts[1] + example(t, string(archive.Files[0].Data), parts[2]) + parts[3]
	})
	for _, name := range []string{"getItems", "getUsage", "setInclusion", "pruneByIndices", "prune", "pin", "replace", "preview", "getPrompt", "undo", "redo", "listEdits", "restore"} {
		require.True(t, shown["context/"+name], "%s shows no example of context/%s", contextDoc, name)
	}
	if *update {
		require.NoError(t, os.WriteFile(contextDoc, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(doc))
}

// example is the first exchange of a method in a transcript, shortened.
func example(t *testing.T, transcript, method string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(transcript) {
		line = strings.TrimSpace(line)
		ours := strings.HasPrefix(line, "-> ")
		switch {
		case ours && b.Len() > 0:
			return b.String()
		case ours && !strings.Contains(line, `"method":"`+method+`"`), !ours && b.Len() == 0:
			continue
		}
		b.WriteString(line[:3] + shortened(line[3:], method) + "\n")
	}
	require.NotEmpty(t, b.String(), "the transcript has no %s", method)
	return b.String()
}

var (
	envelope = regexp.MustCompile(`"jsonrpc":"2\.0",`)
	usages   = regexp.MustCompile(`("usage"|"before"|"after"):\{"totalTokens":[^\]]*\]\}`)
	ofPrompt = regexp.MustCompile(`"promptTokens":(\d+)`)
	prompts  = regexp.MustCompile(`"content":"(You are a coding agent\.)(?:[^"\\]|\\.)*"`)
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
	message = tools.ReplaceAllString(prompts.ReplaceAllString(message, `"content":"$1…"`), `"tools":[…],"tokens"`)
	if strings.Contains(message, `"method":"ContextItems"`) && method != "context/setInclusion" {
		return `{"method":"ContextItems",…}`
	}
	return strings.NewReplacer(`},{"`, "},\n     {\"", `":[{"`, "\":[\n     {\"").Replace(message)
}
