package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
)

// TestListAlignsItems aligns columns, escapes control characters and shortens previews.
func TestListAlignsItems(t *testing.T) {
	turn := "turn"
	items := []protocol.ContextItem{
		{Index: 0, ID: "r1", Category: protocol.CategoryEnvironmentContext, Tokens: 1234, Included: true, InPrompt: true,
			ContextItemMarks: protocol.ContextItemMarks{Pinned: true}, Preview: "<environment_context>"},
		{Index: 1, ID: "r40.3", Category: protocol.CategoryUserMessage, Tokens: 7, Included: true, InPrompt: true,
			Preview: "日本語 \x1b[31m text\nof two lines", TurnID: &turn},
		{Index: 12, ID: "r41", Category: protocol.CategoryToolOutput, Tokens: 1234567,
			ContextItemMarks: protocol.ContextItemMarks{Replaced: true, Pinned: true, Note: "why\x1b it stays"},
			Preview:          strings.Repeat("世界", 40), TurnID: &turn},
		{Index: 13, ID: "r42", Category: protocol.CategoryReasoning, Included: true, Preview: "**Thinking**", TurnID: &turn},
	}
	var out bytes.Buffer
	itemTable(items, map[string]string{"turn": "3h"}).write(&out, 100)
	require.Equal(t, `index  id     category        tokens  state                       age  preview
    0  r1     environment      1,234  pinned                           <environment_context>
    1  r40.3  user                 7                               3h  日本語 �[31m text of two lin…
   12  r41    tool output  1,234,567  excluded, pinned, replaced   3h  世界世界世界世界世界世界世界…
                                      note                             why� it stays
   13  r42    reasoning            0  not sent                     3h  **Thinking**
`, out.String())
	out.Reset()
	itemTable(items[:1], nil).write(&out, 100)
	require.NotContains(t, out.String(), "age")
}

// TestErrorsAndJSONCannotControlTerminal escapes the texts of threads in messages and in documents.
func TestErrorsAndJSONCannotControlTerminal(t *testing.T) {
	text := "a\x00\x1b\r\u009b\u202e\u2028\x7f\xff é 👩‍💻"
	cause := errors.New("x\x1bx\n")
	err := plainError{cause}
	require.Equal(t, "x\ufffdx\n", err.Error())
	require.ErrorIs(t, err, cause)
	var out bytes.Buffer
	require.NoError(t, writeJSON(&out, text))
	require.Equal(t, `"a\u0000\u001b\r\u009b\u202e\u2028\u007f`+"\ufffd é 👩‍💻\"\n",
		strings.ReplaceAll(out.String(), `\ufffd`, "\ufffd"))
	require.True(t, json.Valid(out.Bytes()))
}

func TestAgesAreReadable(t *testing.T) {
	var ages []string
	for _, d := range []time.Duration{-time.Hour, 59 * time.Second, time.Minute, 59 * time.Minute, 47 * time.Hour,
		48 * time.Hour, 1000 * time.Hour} {
		ages = append(ages, age(d))
	}
	require.Equal(t, "0s 59s 1m 59m 47h 2d 41d", strings.Join(ages, " "))
}

// TestListPrintsLastItems expects all items only with --all.
func TestListPrintsLastItems(t *testing.T) {
	home := t.TempDir()
	t.Setenv("CODEX_HOME", home)
	var text strings.Builder
	text.WriteString(apptest.LegacyRollout)
	for i := range listedItems {
		fmt.Fprintf(&text, `{"timestamp":"2025-10-01T10:00:05.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"number %d"}]}}`+"\n", i)
	}
	apptest.PutRollout(t, home, apptest.LegacyID, text.String())
	out, _, err := atTerminal(t, "", "list", "--last")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(out, "6 earlier items not shown: --all lists them\n"), out)
	require.NotContains(t, out, "There is README.md.")
	all, _, err := atTerminal(t, "", "list", "--all", apptest.LegacyID)
	require.NoError(t, err)
	require.Contains(t, all, "There is README.md.")
	require.Equal(t, strings.Count(out, "\n")+5, strings.Count(all, "\n"))
}
