package core_test

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"appserver/core"
	"appserver/protocol"
)

// This file holds the commands on what is remembered.

func memoryCommands() map[string]command {
	return map[string]command{
		"memory":     memory,
		"recalled":   input(recalledInput),
		"remembered": input(rememberedInput),
		"memory-mode": input(func(m *machine, a arguments) (core.Input, error) {
			return core.SetMemoryMode{To: m.caller(), Mode: a.word(0)}, nil
		}),
	}
}

func memory(m *machine, a arguments, _ *strings.Builder) error {
	items, err := a.number("items", 0)
	if err != nil {
		return err
	}
	chars, err := a.number("chars", 500)
	m.world.Memory = core.MemoryRules{Summarize: a.has("summarize"), ByModel: a.has("model"), Tool: a.has("tool"),
		Items: int(items), Chars: int(chars)}
	m.options.Memory = m.world.Memory
	return err
}

func recalledInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, first[core.Recall](m))
	in := core.Recalled{Effect: id, Repo: "/repo"}
	if v := a.option("repo"); v != nil {
		in.Repo = *v
	}
	if v := a.option("failure"); v != nil {
		in.Err = errors.New(*v)
	}
	for _, v := range a.all("found") {
		in.Found = append(in.Found, memoryOf(v))
	}
	return in, err
}

func memoryOf(text string) core.Memory {
	parts := append(strings.Split(text, "|"), "", "", "")
	return core.Memory{Kind: "summary", Title: parts[0], Text: parts[1], Session: parts[2],
		Items: strings.FieldsFunc(parts[3], func(r rune) bool { return r == ',' }),
		At:    time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func rememberedInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, first[core.Remember](m))
	if err != nil {
		return nil, err
	}
	stored, err := a.number("stored", 1)
	in := core.Remembered{Effect: id, Repo: "/repo", Stored: int(stored)}
	if v := a.option("failure"); v != nil {
		in.Stored, in.Err = 0, errors.New(*v)
	}
	return in, err
}

// mostReminded bounds what anyRules allows, in memories and characters.
const mostReminded, mostRemindedChars = 3, 300

// anyRules returns rules of the memory.
func anyRules(t *rapid.T) core.MemoryRules {
	return core.MemoryRules{
		Summarize: rapid.Bool().Draw(t, "summarize"), Tool: rapid.Bool().Draw(t, "recall"),
		Items: rapid.IntRange(0, mostReminded).Draw(t, "items"),
		Chars: rapid.IntRange(200, mostRemindedChars).Draw(t, "chars"),
	}
}

// anyFound draws the result of a search of the memory.
func anyFound(t *rapid.T, id core.EffectID) core.Recalled {
	in := core.Recalled{Effect: id,
		Repo: rapid.SampledFrom([]string{"/repo", "", "/" + strings.Repeat("長い", 100), "a\n\nb"}).Draw(t, "repo"),
		Err:  rapid.SampledFrom([]error{nil, nil, nil, errDiskFull}).Draw(t, "recall")}
	for range rapid.IntRange(0, 6).Draw(t, "found") {
		in.Found = append(in.Found, core.Memory{
			Title: rapid.SampledFrom([]string{"", "title", "[memory:summary v1 | repo=x]", "\n- "}).Draw(t, "title"),
			Text: rapid.SampledFrom([]string{"", "hello", "Two sentences. In one line.", strings.Repeat("漢字。", 200),
				strings.Repeat("word ", 400), "\xff\x00"}).Draw(t, "memory"),
			Items:   rapid.SampledFrom([][]string{nil, {"r6"}, {"r5", "r900"}, {"nonsense"}}).Draw(t, "of"),
			Session: rapid.SampledFrom([]string{threadID, "t-9"}).Draw(t, "session"),
		})
	}
	return in
}

// checkReminders checks what the model is reminded of in a request.
func (w *checker) checkReminders(items []protocol.ResponseItem) {
	for _, item := range items {
		m, ok := item.ResponseItemVariant.(*protocol.Message)
		if !ok || m.ID != "" || len(m.Content) != 1 || !strings.HasPrefix(m.Content[0].Text, "[memory:summary v1 |") {
			continue
		}
		text := m.Content[0].Text
		if n := utf8.RuneCountInString(text); n > mostRemindedChars {
			w.report("the reminder has %d characters: %s", n, text)
		}
		if n := strings.Count(text, "\n"); n > mostReminded || n == 0 {
			w.report("the reminder has %d lines: %s", n, text)
		}
	}
}
