package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"appserver/cmd/appserver/internal/app"
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
	given    []string // names of the flags that were given
}

// define defines the flags of all commands, because the command is known only after the flags are
// parsed.
func (o *contextOptions) define(flags *flag.FlagSet) {
	o.DefineShared(flags)
	flags.BoolVar(&o.json, "json", false, "print the result as one JSON document")
	flags.BoolVar(&o.all, "all", false, fmt.Sprintf("list: print all items, not only the last %d", listedItems))
	flags.BoolVar(&o.last, "last", false, "use the thread that was written last, instead of THREAD")
	flags.BoolVar(&o.yes, "yes", false, "delete, restore: skip the confirmation")
	flags.BoolVar(&o.backup, "from-backup", false, "restore: first verify the backup of the rollout")
	flags.Func("revision", "edits: change nothing unless the context has this revision, which `N` list --json prints",
		func(text string) error {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return errors.New("expected a number")
			}
			o.revision = &n
			return nil
		})
	flags.Func("category", "prune, preview: exclude items of these `CATEGORIES`, for example toolOutput,reasoning", o.addCategories)
	flags.Func("before-turn", "prune, preview: only items before the turn with this `ID`", func(id string) error {
		return o.setRange(protocol.PruneRange{Word: protocol.RangeBeforeTurn, TurnID: id})
	})
	flags.Func("first", "prune, preview: only the first `N` turns", o.countRange(protocol.RangeFirstTurns))
	flags.Func("keep-last", "prune, preview: all but the last `N` turns", o.countRange(protocol.RangeKeepLastTurns))
	flags.Func("keep-last-outputs", "prune, preview: only items before the last `N` tool outputs",
		o.countRange(protocol.RangeKeepLastOutputs))
}

func (o *contextOptions) addCategories(list string) error {
	for word := range strings.SplitSeq(list, ",") {
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

// parse parses flags and arguments in any order.
func (o *contextOptions) parse(args []string) (rest []string, err error) {
	flags := flag.NewFlagSet("context", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	o.define(flags)
	if rest, err = parseAnyOrder(flags, args); err != nil {
		return nil, err
	}
	shared := flag.NewFlagSet("", flag.ContinueOnError)
	o.DefineShared(shared)
	flags.Visit(func(f *flag.Flag) {
		if shared.Lookup(f.Name) == nil {
			o.given = append(o.given, f.Name)
		}
	})
	return rest, nil
}

// parseAnyOrder parses flags before, between and after other arguments. Arguments after "--" are not
// flags.
func parseAnyOrder(flags *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		left := flags.Args()
		ended := len(left) < len(args) && args[len(args)-len(left)-1] == "--"
		if len(left) == 0 || ended {
			return append(rest, left...), nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

// check returns an error unless the command accepts the flags and the number of arguments.
func (o *contextOptions) check(c *contextRow, args []string) error {
	for _, name := range o.given {
		if !slices.Contains(strings.Fields("json last "+c.flags), name) || c.name == editCommand && name == "json" {
			return fmt.Errorf("context %s has no flag --%s", c.name, name)
		}
	}
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
		return fmt.Errorf("context %s: --category is missing: give one or more of %s", c.name, categories())
	}
	return nil
}

func categories() string {
	var words []string
	for _, c := range protocol.ContextCategories() {
		words = append(words, string(c))
	}
	return strings.Join(words, ", ")
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
