package core_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/protocol"
)

// contextCommands returns the commands of scripts on the context:
//
//	exclude|include|delete|pin|unpin [ids=A,B] [indices=1,2] [client=NAME]
//	prune CATEGORIES [first=N] [keep=N] [before=TURN]
//	replace TEXT [id=A] [index=1]
//	undo, redo, restore           these and those above with [expected=REVISION]
//	trim [keep=N] [summary=TEXT]
//	summarize TEXT [point=ID] [took=MS]
//	compact [STRATEGY]
//	propose [STRATEGY] [first=N] [keep=N] [before=TURN]
//	commit [TEXT] [draft=ID]      without draft= the last one
//	points                        the trim points, and the provider session
//	read ID                       one item in full
//	items [limit=N] [cursor=ID], usage, edits [with=items]
//	goto REVISION [expected=REVISION]
//	preview [cached=PERCENT] "EDIT"...  each EDIT a command as above; the price of cached tokens is 10 %
//	apply [when=turnEnd] [expected=REVISION] "EDIT"...
func contextCommands() map[string]command {
	table := map[string]command{
		"undo": input(func(m *machine, a arguments) (core.Input, error) {
			expected, err := expectedOf(a)
			return core.UndoContext{To: m.caller(), Expected: expected}, err
		}),
		"redo": input(func(m *machine, a arguments) (core.Input, error) {
			expected, err := expectedOf(a)
			return core.RedoContext{To: m.caller(), Expected: expected}, err
		}),
		"restore": input(func(m *machine, a arguments) (core.Input, error) {
			expected, err := expectedOf(a)
			return core.RestoreContext{To: m.caller(), Client: clientOf(a), Expected: expected}, err
		}),
		"compact": input(compactInput), "review": input(reviewInput), "propose": input(proposeInput),
		"cancel": input(func(m *machine, _ arguments) (core.Input, error) {
			return core.CancelCompaction{To: m.caller()}, nil
		}),
		"commit": input(commitInput), "trim": input(trimInput), "summarize": input(summarizeInput), "points": pointsCommand,
		"read": input(func(m *machine, a arguments) (core.Input, error) {
			return core.ReadContextItem{To: m.caller(), ID: a.word(0)}, nil
		}),
		"items": input(itemsInput), "preview": input(previewInput), "preview-change": input(previewChangeInput),
		"apply": input(applyInput),
		"usage": input(func(m *machine, _ arguments) (core.Input, error) {
			return core.GetContextUsage{To: m.caller()},
				nil
		}),
		"suggest": input(suggestInput),
		"edits": input(func(m *machine, a arguments) (core.Input, error) {
			return core.ListContextEdits{To: m.caller(), WithItems: a.option("with") != nil}, nil
		}),
		"goto": input(func(m *machine, a arguments) (core.Input, error) {
			expected, err := expectedOf(a)
			revision, err2 := strconv.ParseInt(a.word(0), 10, 64)
			return core.GotoContext{To: m.caller(), Expected: expected, Revision: revision}, errors.Join(err, err2)
		}),
	}
	for _, name := range []string{"exclude", "include", "delete", "pin", "unpin", "prune", "replace"} {
		table[name] = input(editInput)
	}
	return table
}

func editInput(m *machine, a arguments) (core.Input, error) {
	operation, err := operationOf(a)
	expected, err2 := expectedOf(a)
	return core.EditContext{To: m.caller(), Client: clientOf(a), Expected: expected, Operation: operation},
		errors.Join(err, err2)
}

// clientOf returns the name of the client, or "".
func clientOf(a arguments) string {
	if name := a.option("client"); name != nil {
		return *name
	}
	return ""
}

func itemsInput(m *machine, a arguments) (core.Input, error) {
	in := core.GetContextItems{To: m.caller(), Cursor: a.option("cursor")}
	limit, err := a.number("limit", 0)
	if limit > 0 {
		in.Limit = new(uint32(limit))
	}
	return in, err
}

func previewInput(m *machine, a arguments) (core.Input, error) {
	operations, err := operationsOf(a)
	ratio, err2 := numberOf(a, "cached")
	in := core.PreviewContext{To: m.caller(), Operations: operations,
		Cache: cacheFacts(0.1)}
	if ratio != nil {
		in.Cache = cacheFacts(float64(*ratio) / 100)
	}
	return in, errors.Join(err, err2)
}

// previewChangeInput takes the kind of a change with its arguments: goto REVISION, restore, trim keep=N
// summary=TEXT, or compact STRATEGY with a range.
func previewChangeInput(m *machine, a arguments) (core.Input, error) {
	in := core.PreviewContext{To: m.caller(), Cache: cacheFacts(0.1), Compaction: m.world.Compaction}
	switch a.word(0) {
	case "goto":
		revision, err := strconv.ParseInt(a.word(1), 10, 64)
		in.Change.Revision = &revision
		return in, err
	case "restore":
		in.Change.Restore = true
	case "trim":
		keep, err := a.number("keep", 0)
		in.Change.Trim = &protocol.PreviewedTrim{KeepLastNTurns: new(uint32(keep)), Summary: a.option("summary")}
		return in, err
	case "compact":
		named, err := pruneOf(a)
		if err != nil {
			return nil, err
		}
		in.Change.Compact = &protocol.PreviewedCompaction{Range: named.Range}
		if strategy := a.word(1); strategy != "" {
			in.Change.Compact.Strategy = &strategy
		}
	default:
		return nil, fmt.Errorf("unknown change %q", a.word(0))
	}
	return in, nil
}

func suggestInput(m *machine, a arguments) (core.Input, error) {
	in := core.SuggestContext{To: m.caller(), Rules: m.world.Economy, Cache: cacheFacts(0.1)}
	tokens, err := numberOf(a, "tokens")
	share, err2 := numberOf(a, "percent")
	ratio, err3 := numberOf(a, "cached")
	if ratio != nil {
		in.Cache = cacheFacts(float64(*ratio) / 100)
	}
	if tokens != nil || share != nil {
		in.Goal = &protocol.ContextSuggestGoal{Tokens: tokens}
	}
	if share != nil {
		in.Goal.Share = new(float64(*share) / 100)
	}
	return in, errors.Join(err, err2, err3)
}

func applyInput(m *machine, a arguments) (core.Input, error) {
	operations, err := operationsOf(a)
	expected, err2 := expectedOf(a)
	when := a.option("when")
	return core.ApplyContext{To: m.caller(), Client: clientOf(a), Expected: expected, Operations: operations,
		AtTurnEnd: when != nil && *when == protocol.ApplyAtTurnEnd}, errors.Join(err, err2)
}

func operationsOf(a arguments) (operations []protocol.ContextOperation, err error) {
	for _, line := range a.words[1:] {
		edit, err := parse(line)
		if err != nil {
			return nil, err
		}
		operation, err := operationOf(edit)
		if err != nil {
			return nil, err
		}
		operations = append(operations, protocol.ContextOperation{ContextOperationVariant: operation})
	}
	return operations, nil
}

func expectedOf(a arguments) (*int64, error) { return numberOf(a, "expected") }

// numberOf returns an option that may be negative; nil without it.
func numberOf(a arguments, name string) (*int64, error) {
	v := a.option(name)
	if v == nil {
		return nil, nil
	}
	n, err := strconv.ParseInt(*v, 10, 64)
	return &n, err
}

func operationOf(a arguments) (protocol.ContextOperationVariant, error) {
	named, err := targetsOf(a)
	if err != nil {
		return nil, err
	}
	switch verb := a.words[0]; verb {
	case "exclude", "include":
		return &protocol.SetInclusion{ContextTargets: named, Included: verb == "include"}, nil
	case "delete":
		return &protocol.PruneByIndices{ContextTargets: named}, nil
	case "pin", "unpin":
		return &protocol.Pin{ContextTargets: named, Pinned: verb == "pin"}, nil
	case "prune":
		return pruneOf(a)
	case "replace":
		index, err := numberOf(a, "index")
		return &protocol.Replace{ID: a.option("id"), Index: index, Text: a.word(0)}, err
	}
	return nil, fmt.Errorf("%s is no edit", a.words[0])
}

func targetsOf(a arguments) (named protocol.ContextTargets, err error) {
	if v := a.option("ids"); v != nil {
		named.IDs = listOf(*v)
	}
	if v := a.option("indices"); v != nil {
		named.Indices = []int64{}
		for _, word := range listOf(*v) {
			n, wrong := strconv.ParseInt(word, 10, 64)
			named.Indices, err = append(named.Indices, n), errors.Join(err, wrong)
		}
	}
	return named, err
}

// listOf splits at commas; an empty text is an empty list.
func listOf(text string) []string {
	if text == "" {
		return []string{}
	}
	return strings.Split(text, ",")
}

func pruneOf(a arguments) (*protocol.Prune, error) {
	o := &protocol.Prune{}
	for _, word := range listOf(a.word(0)) {
		o.Categories = append(o.Categories, protocol.ContextCategory(word))
	}
	for name, word := range map[string]string{"first": protocol.RangeFirstTurns, "keep": protocol.RangeKeepLastTurns} {
		if a.option(name) == nil {
			continue
		}
		n, err := a.number(name, 0)
		if err != nil {
			return nil, err
		}
		o.Range = &protocol.PruneRange{Word: word, Count: uint32(n)}
	}
	if v := a.option("before"); v != nil {
		o.Range = &protocol.PruneRange{Word: protocol.RangeBeforeTurn, TurnID: *v}
	}
	return o, nil
}

func trimInput(m *machine, a arguments) (core.Input, error) {
	keep, err := a.number("keep", 0)
	return core.TrimContext{To: m.caller(), Client: clientOf(a), KeepLast: uint32(keep), Summary: a.option("summary")}, err
}

func compactInput(m *machine, a arguments) (core.Input, error) {
	return core.CompactContext{To: m.caller(), Env: m.world, Strategy: a.word(0)}, nil
}

// reviewInput takes a kind of target, and what it names.
func reviewInput(m *machine, a arguments) (core.Input, error) {
	targets := map[string]protocol.ReviewTargetVariant{
		"": &protocol.ReviewUncommitted{}, "branch": &protocol.ReviewBranch{Branch: a.word(1)},
		"commit": &protocol.ReviewCommit{Sha: a.word(1), Title: a.option("title")},
		"custom": &protocol.ReviewCustom{Instructions: a.word(1)},
	}
	in := core.ReviewStart{To: m.caller(), Env: m.world,
		Target: protocol.ReviewTarget{ReviewTargetVariant: targets[a.word(0)]}}
	set := a.option("base")
	if set != nil {
		in.MergeBase = *set
	}
	return in, nil
}

func proposeInput(m *machine, a arguments) (core.Input, error) {
	named, err := pruneOf(a)
	if err != nil {
		return nil, err
	}
	return core.ProposeCompaction{To: m.caller(), Env: m.world, Strategy: a.word(0), Range: named.Range}, nil
}

func commitInput(m *machine, a arguments) (core.Input, error) {
	in := core.CommitCompaction{To: m.caller(), Draft: m.draft}
	if id := a.option("draft"); id != nil {
		in.Draft = *id
	}
	if len(a.words) > 1 {
		in.Text = &a.words[1]
	}
	return in, nil
}

func summarizeInput(m *machine, a arguments) (core.Input, error) {
	took, err := numberOf(a, "took")
	return core.SummarizeContext{To: m.caller(), Client: clientOf(a), Point: a.option("point"), Summary: a.word(0),
		TookMs: took}, err
}

func pointsCommand(m *machine, _ arguments, b *strings.Builder) error {
	for _, p := range gjson.Parse(encode(m.thread.View(false).ContextTrimPoints)).Array() {
		fmt.Fprintln(b, trimPointText(p))
	}
	fmt.Fprintln(b, "session", m.thread.Prompt().SessionID)
	return nil
}

// cacheFacts returns the facts of a provider with a ratio, which keeps its cache.
func cacheFacts(ratio float64) func(provider, model string) core.CacheFacts {
	return func(string, string) core.CacheFacts { return core.CacheFacts{Ratio: ratio, Retention: time.Hour} }
}
