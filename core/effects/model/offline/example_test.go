package offline_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"appserver/core"
	"appserver/core/effects/model/modeltest"
	"appserver/core/effects/model/offline"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
)

// A thread of the offline provider: the call that the user asks for, and the
// answer once its output is there.
func ExampleProvider() {
	prompt := &core.Prompt{
		Items: modeltest.Items(modeltest.Say(protocol.RoleUser, "Please run `date`")),
		Tools: []core.ToolSpec{{Name: "shell"}},
	}
	offline := offline.New(nil)
	answer, _ := offline.Stream(context.Background(), prompt, func(core.Piece) {})
	call := answer.Calls[0]
	fmt.Println(call.ID, call.Name, call.Arguments)

	prompt.Items = append(prompt.Items, modeltest.Items(
		&protocol.FunctionCall{CallID: call.ID, Name: call.Name, Arguments: call.Arguments},
		&protocol.FunctionCallOutput{CallID: call.ID, Output: protocol.ToolOutput{Text: "Tuesday"}})...)
	_, _ = offline.Stream(context.Background(), prompt, func(p core.Piece) { fmt.Print(p.Text) })
	// Output:
	// call_1 shell {"command":"date"}
	// Done. The command printed:
	// Tuesday
}

func ExampleReadScript() {
	script, err := offline.ReadScript(strings.NewReader(`{"steps": [{"deltas": ["Sun", "ny."], "match": "weather"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	prompt := &core.Prompt{Items: modeltest.Items(modeltest.Say(protocol.RoleUser, "How is the weather?"))}
	_, _ = offline.New(script).Stream(context.Background(), prompt, func(p core.Piece) { fmt.Println(p.Text) })
	// Output:
	// Sun
	// ny.
}

// TestDocumentedScriptsAreValid reads the scripts of the package's documentation
// and of the user's.
func TestDocumentedScriptsAreValid(t *testing.T) {
	document := regexp.MustCompile(`(?s)\{"steps": \[\n.*?\n\]\}|\{\n  "steps".*?\n\}`)
	for _, file := range []string{"script.go", "../../../../docs/offline.md"} {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		text := strings.ReplaceAll(string(b), "//\t", "")
		found := document.FindString(text)
		require.NotEmpty(t, found, file)
		script, err := offline.ReadScript(strings.NewReader(found))
		require.NoError(t, err, file)
		require.Len(t, script.Steps, 5, file)
	}
}
