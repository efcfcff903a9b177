package cli

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
	"appserver/platform/pattern"
	"appserver/protocol"
)

// contextOptions are the flags of the context commands.
type contextOptions struct {
	*app.Options
	json, all, yes, last, backup bool
	prune                        protocol.Prune
	// revision is the one that the context must have, or nil for any.
	revision *int64
}

// define defines the flags of all commands. Each command picks its own.
func (o *contextOptions) define(flags *flag.FlagSet) {
	flags.BoolVar(&o.json, "json", false, "print the result as one JSON document")
	flags.BoolVar(&o.all, "all", false, fmt.Sprintf("print all items, not only the last %d", listedItems))
	flags.BoolVar(&o.last, "last", false, "use the thread that was written last, instead of THREAD")
	flags.BoolVar(&o.yes, "yes", false, "skip the confirmation")
	flags.BoolVar(&o.backup, "from-backup", false, "first verify the backup of the rollout")
	flags.Func("revision", "change nothing unless the context has this revision, which `N` list --json prints",
		func(text string) error {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return errors.New("expected a number")
			}
			o.revision = &n
			return nil
		})
	flags.Func("category", "which `CATEGORIES` of items, separated by commas (needed): "+strings.Join(categories(), ", "), o.addCategories)
	cmdline.ChoiceList(flags, "category", categories()...)
	flags.Func("before-turn", "only items before the turn with this `ID`", func(id string) error {
		return o.setRange(protocol.PruneRange{Word: protocol.RangeBeforeTurn, TurnID: id})
	})
	flags.Func("first", "only the first `N` turns", o.countRange(protocol.RangeFirstTurns))
	flags.Func("keep-last", "all but the last `N` turns", o.countRange(protocol.RangeKeepLastTurns))
	flags.Func("keep-last-outputs", "only items before the last `N` tool outputs",
		o.countRange(protocol.RangeKeepLastOutputs))
}

func (o *contextOptions) addCategories(list string) error {
	for word := range strings.SplitSeq(list, ",") {
		if c, ok := categoryOf(strings.TrimSpace(word)); ok {
			o.prune.Categories = append(o.prune.Categories, c)
			continue
		}
		var c protocol.ContextCategory
		raw, err := protocol.Marshal(strings.TrimSpace(word))
		if err == nil {
			err = c.UnmarshalJSON(raw)
		}
		if err != nil {
			return err
		}
		o.prune.Categories = append(o.prune.Categories, c)
	}
	return nil
}

// categoryOf returns the category with the words that list prints.
func categoryOf(words string) (protocol.ContextCategory, bool) {
	for _, c := range protocol.ContextCategories() {
		if c.Words() == words {
			return c, true
		}
	}
	return "", false
}

// countRange returns a function that parses a number of turns or outputs and sets the range.
func (o *contextOptions) countRange(word string) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return errors.New("expected a number")
		}
		return o.setRange(protocol.PruneRange{Word: word, Count: uint32(n)})
	}
}

func (o *contextOptions) setRange(r protocol.PruneRange) error {
	if o.prune.Range != nil {
		return errors.New("only one of --before-turn, --first, --keep-last and --keep-last-outputs can be given")
	}
	o.prune.Range = &r
	return nil
}

// check returns an error unless the command accepts the number of arguments.
func (o *contextOptions) check(c *contextRow, args []string) error {
	prunes := strings.Contains(c.flags, "category")
	minArgs := 1
	if o.last {
		minArgs = 0
	}
	switch {
	case len(args) < minArgs:
		return fmt.Errorf("context %s: THREAD is missing: %s", c.name, threadForms)
	case c.args != noArgs && len(args) == minArgs:
		return fmt.Errorf("context %s: ITEM is missing: give ids (r12), indices (4) or ranges of indices (3-7)", c.name)
	case c.args == itemAndText && len(args) == minArgs+1:
		return fmt.Errorf("context %s: TEXT is missing: give the items, then the text as one word in quotes", c.name)
	case c.args == noArgs && len(args) > minArgs:
		return fmt.Errorf("context %s: unexpected argument %q", c.name, args[minArgs])
	case prunes && len(o.prune.Categories) == 0:
		return fmt.Errorf("context %s: --category is missing: give one or more of %s", c.name, strings.Join(categories(), ", "))
	}
	return nil
}

func categories() (words []string) {
	for _, c := range protocol.ContextCategories() {
		words = append(words, string(c))
	}
	return words
}

// target is an ITEM: an id, or a range of indices that includes end.
type target struct {
	word      string
	id        string
	from, end int64
}

var targetWords = pattern.New(`^(?:(r\d+(?:\.\d+)?)|(\d{1,9})(?:-(\d{1,9}))?)$`)

func parseTargets(words []string) ([]target, error) {
	var list []target
	for _, word := range words {
		m := targetWords().FindStringSubmatch(word)
		if m == nil {
			return nil, fmt.Errorf("%q is not an item: give an id (r12), an index (4) or a range of indices (3-7)", word)
		}
		t := target{word: word, id: m[1]}
		if t.id == "" {
			t.from, _ = strconv.ParseInt(m[2], 10, 64) // at most nine digits
			t.end = t.from
		}
		if m[3] != "" {
			t.end, _ = strconv.ParseInt(m[3], 10, 64)
		}
		if t.end < t.from {
			return nil, fmt.Errorf("%q is not a range: its end is before its start", word)
		}
		list = append(list, t)
	}
	return list, nil
}

// idsOf returns the ids of the items that the targets name, each once, and the targets without an item. Ids of
// removed items are not in the list; allowRemoved accepts any id.
func idsOf(targets []target, items []protocol.ContextItem, allowRemoved bool) (ids, unknown []string) {
	known, named := map[string]bool{}, map[string]bool{}
	for _, item := range items {
		known[item.ID] = true
	}
	add := func(id string) {
		if !named[id] {
			named[id] = true
			ids = append(ids, id)
		}
	}
	for _, t := range targets {
		switch {
		case t.id != "" && (allowRemoved || known[t.id]):
			add(t.id)
		case t.id == "" && t.end < int64(len(items)):
			for _, item := range items[t.from : t.end+1] {
				add(item.ID)
			}
		default:
			unknown = append(unknown, t.word)
		}
	}
	return ids, unknown
}
