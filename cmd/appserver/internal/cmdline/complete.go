package cmdline

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Completion has the words that a shell offers.
type Completion struct {
	// Words are the possible words.
	Words []Word
	// Kind is "files" or "folders" if names of those are possible, too, and otherwise "words".
	Kind string
}

// completing is the state after the words before the completed one.
type completing struct {
	at    path
	flags *flag.FlagSet
	// value is the flag whose value the next word is, or nil.
	value *flag.Flag
	// args are the arguments so far. ended is set after "--".
	args  []string
	ended bool
}

// Complete returns the completions of the last word of a command line without the name of the program.
func (p *Program) Complete(words []string) Completion {
	if len(words) == 0 {
		words = []string{""}
	}
	c := &completing{at: path{&p.Root}}
	c.flags, _ = p.Root.define()
	for _, word := range words[:len(words)-1] {
		c.read(word)
	}
	word := words[len(words)-1]
	all := c.candidates(p, word)
	all.Words = slices.DeleteFunc(all.Words, func(w Word) bool { return !strings.HasPrefix(w.Name, word) })
	return all
}

// read follows a word that is typed already.
func (c *completing) read(word string) {
	switch {
	case c.value != nil:
		c.value = nil
	case word == "--" && !c.ended:
		c.ended = true
	case strings.HasPrefix(word, "-") && len(word) > 1 && !c.ended:
		name, _, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if f := c.flags.Lookup(name); f != nil && !hasValue && !isBool(f) {
			c.value = f
		}
	default:
		if nested := c.at.last().nested(word); nested != nil {
			c.at = c.at.with(nested)
			c.flags, _ = nested.define()
			return
		}
		c.args = append(c.args, word)
	}
}

func (c *completing) candidates(p *Program, word string) Completion {
	if c.value != nil {
		return valuesOf(c.value, "", word)
	}
	if strings.HasPrefix(word, "-") && !c.ended {
		begin, value, hasValue := strings.Cut(word, "=")
		if !hasValue {
			return Completion{Words: c.flagWords(), Kind: "words"}
		}
		if f := c.flags.Lookup(strings.TrimLeft(begin, "-")); f != nil {
			return valuesOf(f, begin+"=", value)
		}
		return Completion{Kind: "words"}
	}
	found := c.arguments(p)
	for _, name := range c.at.last().names() {
		found.Words = append(found.Words, Word{name, c.at.last().nested(name).Doc})
	}
	return found
}

func (c *completing) flagWords() (list []Word) {
	c.flags.VisitAll(func(f *flag.Flag) {
		_, doc := flag.UnquoteUsage(f)
		list = append(list, Word{spelled(f.Name), doc})
	})
	return append(list, Word{"--help", "print the help"})
}

// arguments returns the completions of the next argument.
func (c *completing) arguments(p *Program) Completion {
	forms := strings.Fields(c.at.last().Args)
	if len(forms) == 0 {
		return Completion{Kind: "words"}
	}
	form := forms[min(len(c.args), len(forms)-1)]
	words := argumentWords(form)
	switch {
	case len(words) == 0 || len(c.args) >= len(forms) && !strings.Contains(form, "..."):
		return Completion{Kind: "words"}
	case words[0] == "COMMAND" && c.at.last().Name == "help":
		return Completion{Words: p.commandWords(c.args), Kind: "words"}
	case strings.ToLower(words[0]) == words[0]:
		var list []Word
		for _, w := range words {
			list = append(list, Word{Name: w})
		}
		return Completion{Words: list, Kind: "words"}
	}
	return Completion{Kind: kindOf(words[0])}
}

// commandWords returns the commands in the one that names lead to.
func (p *Program) commandWords(names []string) (list []Word) {
	c := &p.Root
	for _, name := range names {
		if c = c.nested(name); c == nil {
			return nil
		}
	}
	for _, name := range c.names() {
		list = append(list, Word{name, c.nested(name).Doc})
	}
	return list
}

// kindOf returns the kind of the values that have a name in usages.
func kindOf(name string) string {
	switch name {
	case "PATH", "FILE":
		return "files"
	case "DIR":
		return "folders"
	}
	return "words"
}

// valuesOf returns the values of a flag, each after a prefix.
func valuesOf(f *flag.Flag, prefix, typed string) Completion {
	name, _ := flag.UnquoteUsage(f)
	v, ok := f.Value.(choices)
	if !ok {
		return Completion{Kind: kindOf(name)}
	}
	if i := strings.LastIndexByte(typed, ','); v.list && i >= 0 {
		prefix += typed[:i+1]
	}
	found := Completion{Kind: "words"}
	for _, w := range v.words {
		found.Words = append(found.Words, Word{Name: prefix + w})
	}
	return found
}

// CompleteCommand returns the command that the scripts of shells call. Its first line of output is the kind, each other
// line a word, and after a tab its explanation.
func (p *Program) CompleteCommand() Command {
	return Command{Name: "__complete", Doc: "list the completions of the last word", Args: "[WORD...]",
		Hidden: true, Define: func(*flag.FlagSet) Run {
			return func(words []string) error {
				_, err := io.WriteString(p.Out, p.Complete(words).lines())
				return err
			}
		}}
}

func (c Completion) lines() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", c.Kind)
	for _, w := range c.Words {
		fmt.Fprintf(&b, "%s\t%s\n", w.Name, w.Doc)
	}
	return b.String()
}
