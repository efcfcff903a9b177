package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"appserver/core"
	"appserver/protocol"
)

// This file holds the rest of the table of commands: tools, answers, requests that
// begin no turn, and what is no input of the thread.

func toolStartedInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, first[core.RunTool](m))
	return core.ToolStarted{Effect: id, ProcessID: fmt.Sprintf("pid-%d", id)}, err
}

func toolOutputInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, first[core.RunTool](m))
	return core.ToolOutput{Effect: id, Text: a.word(0)}, err
}

func toolDoneInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, first[core.RunTool](m))
	if err != nil {
		return nil, err
	}
	r := core.ToolResult{TimedOut: a.has("timed-out"), Duration: time.Second}
	if v := a.option("output"); v != nil {
		r.Output = *v
	}
	if v := a.option("took"); v != nil {
		if r.Duration, err = time.ParseDuration(*v); err != nil {
			return nil, err
		}
	}
	switch code, failure := a.option("exit"), a.option("failure"); {
	case failure != nil:
		r.Failure = *failure
	case code != nil:
		n, err := strconv.Atoi(*code)
		r.ExitCode = &n
		return core.ToolDone{Effect: id, Result: r}, err
	default:
		r.Failure = "killed"
	}
	return core.ToolDone{Effect: id, Result: r}, nil
}

func answerInput(m *machine, a arguments) (core.Input, error) {
	open := m.thread.OpenRequests()
	otherwise := uint64(0)
	if len(open) > 0 {
		otherwise = open[0]
	}
	id, err := a.number("request", otherwise)
	if err != nil {
		return nil, err
	}
	switch word := a.word(0); {
	case word == "refused":
		return core.ClientAnswer{Request: id, Err: errors.New("method not found")}, nil
	case strings.HasPrefix(word, "{"):
		return core.ClientAnswer{Request: id, Result: json.RawMessage(word)}, nil
	default:
		return core.ClientAnswer{Request: id, Result: json.RawMessage(`{"decision":` + strconv.Quote(word) + `}`)}, nil
	}
}

func timerInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, last[core.Timer](m))
	return core.TimerFired{Effect: id}, err
}

func readInput(m *machine, a arguments) (core.Input, error) {
	return core.Read{To: m.caller(), IncludeTurns: a.has("turns")}, nil
}

func resumeInput(m *machine, a arguments) (core.Input, error) {
	p := &protocol.ThreadResumeParams{ThreadID: threadID, ExcludeTurns: a.has("exclude"), Model: a.option("model")}
	if v := a.option("policy"); v != nil {
		p.ApprovalPolicy = &protocol.AskForApproval{Mode: *v}
	}
	return core.Resume{To: m.caller(), Params: p, World: m.world, Fresh: a.has("fresh"), Warnings: a.all("warning")}, nil
}

func setNameInput(m *machine, a arguments) (core.Input, error) {
	return core.SetName{To: m.caller(), Name: a.word(0)}, nil
}

func shutdownInput(*machine, arguments) (core.Input, error) { return core.Shutdown{}, nil }

func advance(m *machine, a arguments, _ *strings.Builder) error {
	d, err := time.ParseDuration(a.word(0))
	m.advance(d)
	return err
}

func changeWorld(m *machine, a arguments, _ *strings.Builder) error {
	if v := a.option("date"); v != nil {
		m.world.Date = *v
	}
	if v := a.option("agents"); v != nil {
		m.world.Instructions = []core.InstructionFile{{Path: "/repo/AGENTS.md", Text: *v}}
	}
	if v := a.option("enforced"); v != nil {
		m.world.Enforced = *v == "true"
	}
	requests, err := a.number("retries", uint64(m.world.Provider.RequestMaxRetries))
	streams, err2 := a.number("stream-retries", uint64(m.world.Provider.StreamMaxRetries))
	m.world.Provider.RequestMaxRetries, m.world.Provider.StreamMaxRetries = int(requests), int(streams)
	return errors.Join(err, err2)
}

func disk(m *machine, a arguments, _ *strings.Builder) error {
	m.full = a.word(0) == "full"
	return nil
}

func prompt(m *machine, a arguments, b *strings.Builder) error {
	p := m.thread.Prompt()
	if a.has("full") {
		fmt.Fprintf(b, "%s %s effort=%q schema=%s\n", p.Provider, p.Model, p.Effort, p.OutputSchema)
		fmt.Fprintf(b, "instructions %s\n", short(p.Instructions))
	}
	for _, item := range p.Items {
		text := promptItemText([]byte(encode(item)))
		if message, ok := item.ResponseItemVariant.(*protocol.Message); ok && a.has("full") {
			text = "message " + message.Role
			for _, c := range message.Content {
				text = words(text, c.Type, strconv.Quote(c.Text+c.ImageURL), c.Detail)
			}
		}
		fmt.Fprintln(b, text)
	}
	return nil
}

func settings(m *machine, _ arguments, b *strings.Builder) error {
	s := m.thread.Settings()
	effort := ""
	if s.Effort != nil {
		effort = *s.Effort
	}
	fmt.Fprintln(b, words(s.Provider, s.Model, effort, s.Cwd, s.ApprovalPolicy.Mode, s.Sandbox.Stored().Type))
	return nil
}

func reload(m *machine, _ arguments, _ *strings.Builder) error {
	m.load()
	return nil
}
