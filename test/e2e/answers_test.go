package e2e

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// endedBy returns an answer with a text that ends with a finish reason.
func endedBy(text, reason string) func(w io.Writer) {
	return func(w io.Writer) {
		fmt.Fprint(w, apptest.ChatChunk(apptest.Object{"content": text}, nil),
			apptest.ChatChunk(apptest.Object{}, reason), "data: [DONE]\n\n")
	}
}

// TestAnswersThatDoNotCountAreRequestedAgain covers answers that are empty or ended by a failure.
func TestAnswersThatDoNotCountAreRequestedAgain(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		p := on.NewProvider(t, endedBy("", "stop"), endedBy("part", "network_error"), endedBy(" \n", "stop"),
			apptest.TextAnswer("whole"))
		c := apptest.StartServer(t, p.Home(t))
		c.Initialize()
		turn := c.Turn(c.StartTrusted(), "go")
		require.Equal(t, "completed", turn.Status)
		require.Equal(t, "whole", turn.Items[0].Text)
		require.Len(t, p.Requests(), 4)
		require.Empty(t, c.Warnings())
		c.Close()
	})
}

// TestAnswersThatDoNotCountFailTheTurn covers the same answers if no retry is left, and those that a retry cannot
// change.
func TestAnswersThatDoNotCountFailTheTurn(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		for _, tt := range []struct {
			text, reason, message string
			retried               bool
		}{
			{"", "stop", "sent an empty answer", true},
			{"part", "insufficient_system_resource", "insufficient_system_resource", true},
			{"", "whim", "sent an empty answer", true},
			{"", "content_filter", "sent an empty answer: its content filter", false},
			{"", "max_output_tokens", "sent an empty answer: its length limit", false},
		} {
			answer := endedBy(tt.text, tt.reason)
			p := on.NewProvider(t, answer, answer, answer)
			home := p.Home(t)
			config, err := os.ReadFile(filepath.Join(home, "config.toml"))
			require.NoError(t, err)
			apptest.WriteConfig(t, home, string(config)+"stream_max_retries = 1\n")
			c := apptest.StartServer(t, home)
			c.Initialize()
			turn := c.Turn(c.StartTrusted(), "go")
			require.Equal(t, "failed", turn.Status, tt.reason)
			require.Contains(t, turn.Error.Message, tt.message)
			require.Equal(t, tt.retried, len(p.Requests()) == 2, tt.reason)
			c.Close()
		}
	})
}

// TestAnswersThatAreNotWholeWarn covers the reasons after which the text counts.
func TestAnswersThatAreNotWholeWarn(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		reasons := []string{"max_tokens", "SAFETY", "whim"}
		var answers []func(w io.Writer)
		for _, reason := range reasons {
			answers = append(answers, endedBy("part", reason))
		}
		c := apptest.StartServer(t, on.NewProvider(t, answers...).Home(t))
		c.Initialize()
		thread := c.StartTrusted()
		for i := range reasons {
			turn := c.Turn(thread, "go")
			require.Equal(t, "completed", turn.Status)
			require.Equal(t, "part", turn.Items[0].Text)
			require.Len(t, c.Warnings(), i+1)
			require.Contains(t, c.Warnings()[i], "The model's answer is not whole: ")
		}
		c.Close()
	})
}

// TestCallsRunAsTheModelMeantThem gives names and arguments that differ from those of the tool. The command runs, and
// the next request has the call in the form of the tool.
func TestCallsRunAsTheModelMeantThem(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	const whole = `{"command":"echo ran"}`
	calls := []struct{ name, arguments string }{
		{"functions.shell:0", whole}, {"default_api:shell", whole}, {"Shell", whole}, {" shell ", whole},
		{"shell<|channel|>commentary", whole},
		{"shell", whole + whole}, {"shell", "{}" + whole}, {"shell", whole + "{}"}, {"shell", `{"comm` + whole},
		{"shell", `"{\"command\":\"echo ran\"}"`}, {"shell", whole + "\n```"}, {"shell", `{"command":"echo ran",}`},
		{"shell", `{"command":"echo ran","timeout_ms":60000.0}`}, {"shell", `{"command":"echo ran","timeout_ms":"6e4"}`},
		{"Exec-Command", `{"cmd":"echo ran","tty":"false","yield_time_ms":1e4}`},
	}
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		var answers []func(w io.Writer)
		for i, call := range calls {
			answers = append(answers, apptest.ToolAnswer(fmt.Sprint("call_", i), call.name, call.arguments))
		}
		p := on.NewProvider(t, append(answers, apptest.TextAnswer("done"))...)
		c := apptest.StartServer(t, p.Home(t))
		c.Initialize()
		require.Equal(t, "completed", c.Turn(c.StartTrusted(), "go").Status)
		requests := p.Requests()
		require.Len(t, requests, len(calls)+1)
		n := 0
		for _, m := range requests[len(calls)].Messages {
			if call := gjson.GetBytes(m, "tool_calls.0.function"); call.Exists() {
				require.Contains(t, []string{"shell", "exec_command"}, call.Get("name").Str, calls[n])
				require.True(t, strings.HasPrefix(call.Get("arguments").Str, `{"c`), calls[n])
				require.True(t, gjson.Valid(call.Get("arguments").Str), calls[n])
				n++
			}
			if gjson.GetBytes(m, "role").Str == "tool" {
				require.Contains(t, gjson.GetBytes(m, "content").Str, "ran", calls[n-1])
			}
		}
		require.Equal(t, len(calls), n)
		c.Close()
	})
}
