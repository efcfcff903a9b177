package offline

import (
	"strings"
	"testing"

	"appserver/core"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/test/sample"
)

func FuzzReadScript(f *testing.F) {
	f.Add(`{"steps":[{"text":"a","usage":{"input":1,"output":2}},{"error":{"status":429,"times":2}}]}`)
	f.Add(`{"steps":[{"toolCalls":[{"name":"shell","arguments":{"command":"ls"}}],"match":"x"},{"deltas":["a","b"],"cut":true}]}`)
	f.Add("{\"steps\":[\n{\"text\":7}]}")
	f.Add(`{"steps":[null]} x`)
	f.Fuzz(func(t *testing.T, document string) {
		script, err := ReadScript(strings.NewReader(document))
		if err != nil {
			require.Contains(t, err.Error(), "script: ")
			return
		}
		o := New(script)
		for range len(script.Steps) + 1 {
			for i := range o.steps {
				o.steps[i].DelayMs, o.steps[i].GapMs = 0, 0
			}
			_, err := o.Stream(t.Context(), &core.Prompt{}, func(core.Piece) {})
			if err != nil {
				require.IsType(t, &core.ModelError{}, err)
			}
		}
	})
}

func TestSplitDeltasLosesNothing(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "longer", " ", "\n", "é", "  ", "\n\n"})).Draw(t,
			"text"), "")
		deltas := splitDeltas(text)
		require.Equal(t, text, strings.Join(deltas, ""))
		require.LessOrEqual(t, len(deltas), maxDeltas+1)
		for i, d := range deltas {
			require.NotEmpty(t, d)
			if i < len(deltas)-1 {
				require.Contains(t, " \n", d[len(d)-1:], "words stay whole")
			}
		}
	})
}
