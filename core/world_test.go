package core_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"appserver/core"
	"appserver/protocol"
)

// This file holds the commands that are no inputs of the thread.

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
	if v := a.option("reading"); v != nil {
		m.world.ConfinesReading = *v == "confined"
	}
	if v := a.option("images"); v != nil {
		m.world.Capabilities.Images = *v == "true"
	}
	if v := a.option("skills"); v != nil {
		m.world.Capabilities.Skills = ""
		if *v != "" {
			m.world.Capabilities.Skills = core.SkillsText([]core.Skill{{Name: "told", Description: *v, Path: "/s/SKILL.md"}})
		}
	}
	if v := a.option("questions"); v != nil {
		m.world.Capabilities.Questions = *v == "true"
	}
	if v := a.option("terminals"); v != nil {
		m.world.Capabilities.Terminals = *v == "true"
	}
	if v := a.option("strategy"); v != nil {
		m.world.Compaction.Strategy = *v
	}
	if v := a.option("economy"); v != nil {
		m.world.Economy.Mode, m.options.Economy.Mode = *v, *v
		m.world.Provider.CachedPriceRatio, m.world.Provider.CacheRetention = 0.1, 5*time.Minute
	}
	if v := a.option("tracking"); v != nil {
		m.world.Tracking = core.Tracking{Worktree: *v == "worktree", Patches: true, Keep: 50}
	}
	if err := changeLimits(m, a); err != nil {
		return err
	}
	requests, err := a.number("retries", uint64(m.world.Provider.RequestMaxRetries))
	streams, err2 := a.number("stream-retries", uint64(m.world.Provider.StreamMaxRetries))
	m.world.Provider.RequestMaxRetries, m.world.Provider.StreamMaxRetries = int(requests), int(streams)
	return errors.Join(err, err2)
}

// changeLimits changes what bounds the context.
func changeLimits(m *machine, a arguments) error {
	r := &m.world.Compaction
	for name, to := range map[string]func(int64){
		"limit": func(n int64) { r.Limit = n }, "target": func(n int64) { r.Target = n },
		"words": func(n int64) { r.UserTokens = n },
		"keep":  func(n int64) { r.KeepTurns = int(n) }, "turns": func(n int64) { m.world.MaxTurns = int(n) },
		"keep-outputs": func(n int64) { m.world.Economy.KeepOutputs = int(n) },
		"min-saved":    func(n int64) { m.world.Economy.MinPercent = int(n) },
		"checkpoints":  func(n int64) { m.world.Tracking.Keep = int(n) },
		"window":       func(n int64) { m.world.Provider.ContextWindow = &n },
	} {
		n, err := numberOf(a, name)
		if err != nil {
			return err
		}
		if n != nil {
			to(*n)
		}
	}
	return nil
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
	fmt.Fprintln(b, words(s.Provider, s.Model, effort, s.Cwd, s.ApprovalPolicy.Mode, s.Sandbox.Stored().Type, s.Mode))
	return nil
}

// offered prints the names of the tools of the next request, and how its instructions end.
func offered(m *machine, _ arguments, b *strings.Builder) error {
	p := m.thread.Prompt()
	var names []string
	for _, tool := range p.Tools {
		names = append(names, tool.Name)
	}
	lines := strings.Split(p.Instructions, "\n")
	fmt.Fprintln(b, words("tools", strings.Join(names, ", "), short(lines[len(lines)-1])))
	return nil
}

func reload(m *machine, _ arguments, _ *strings.Builder) error {
	m.load()
	return nil
}

func tokens(m *machine, a arguments, _ *strings.Builder) error {
	n, err := strconv.Atoi(a.word(0))
	m.options.Tokens = guess(n)
	return err
}
