package cmdline

import (
	"flag"
	"io"
	"slices"
	"strings"
)

// UsageError is an error of the command line. The program exits with status 2.
type UsageError struct{ Err error }

// Error returns the message.
func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e UsageError) Unwrap() error { return e.Err }

// Run runs a command with its arguments, after its flags are parsed.
type Run func(args []string) error

// Command is a row of the table.
type Command struct {
	Name string
	// Doc is one line in the imperative, such as "list the items".
	Doc string
	// Args are the forms of the arguments, such as "THREAD ITEM..." or "[PATH...]". Words in lower case are literal:
	// "bash|zsh".
	Args string
	// Text is the rest of the help, in lines.
	Text string
	// Words explain words of Args, also in nested commands.
	Words []Word
	// Group is the heading under which the help of the program lists the command.
	Group string
	// Prepare changes the arguments before they are parsed, for flags whose value can be missing. It may be nil.
	Prepare func(args []string) []string
	// Hidden leaves the command out of all texts. It runs nevertheless.
	Hidden   bool
	Commands []Command
	// Define defines the flags and returns the function that runs the command. It is nil if only nested commands run.
	// It is called for texts as well, and has no effect but on the flags.
	Define func(flags *flag.FlagSet) Run
}

// Word is the explanation of a word of Args.
type Word struct{ Name, Doc string }

// Program is a table of commands.
type Program struct {
	// Root has the flags of the program, and the commands.
	Root Command
	// Groups are the headings of the help, in order.
	Groups []string
	// Shared defines the flags that many commands have. The help lists them last.
	Shared func(flags *flag.FlagSet)
	// Version is a run that is made instead of a command if it returns true.
	Version func() (Run, bool)
	// Out receives help that is requested.
	Out io.Writer
}

// define returns the flags of a command and the function that runs it.
func (c *Command) define() (*flag.FlagSet, Run) {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the program prints errors
	if c.Define == nil {
		return c.nestedFlags(flags), nil
	}
	return flags, c.Define(flags)
}

// nestedFlags adds the flags of all nested commands, without effect: the name of the command can follow them.
func (c *Command) nestedFlags(all *flag.FlagSet) *flag.FlagSet {
	for i := range c.Commands {
		flags, _ := c.Commands[i].define()
		flags.VisitAll(func(f *flag.Flag) {
			if all.Lookup(f.Name) == nil {
				all.Var(ignored{isBool(f)}, f.Name, f.Usage)
			}
		})
	}
	return all
}

// ignored is the value of a flag that only its form matters of.
type ignored struct{ bool bool }

// String implements flag.Value.
func (ignored) String() string { return "" }

// Set implements flag.Value.
func (ignored) Set(string) error { return nil }

// IsBoolFlag reports whether the flag needs no value.
func (v ignored) IsBoolFlag() bool { return v.bool }

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// nested returns the nested command with a name, or nil.
func (c *Command) nested(name string) *Command {
	i := slices.IndexFunc(c.Commands, func(n Command) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Commands[i]
}

// names returns the names of the nested commands that are listed.
func (c *Command) names() (list []string) {
	for _, n := range c.Commands {
		if !n.Hidden {
			list = append(list, n.Name)
		}
	}
	return list
}

// hasGroups reports whether nested commands are listed by groups, as those of the program are.
func (c *Command) hasGroups() bool {
	return slices.ContainsFunc(c.Commands, func(n Command) bool { return n.Group != "" })
}

// path is a command with those that contain it, the program first.
type path []*Command

func (p path) last() *Command { return p[len(p)-1] }

// String returns the names: "appserver context list".
func (p path) String() string {
	var names []string
	for _, c := range p {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

// short returns the names without that of the program.
func (p path) short() string { return p[1:].String() }

// with returns the path of a nested command.
func (p path) with(c *Command) path { return append(slices.Clip(p), c) }

// words returns the explanations of the words in the arguments of a command.
func (p path) words() (list []Word) {
	for _, c := range p {
		for _, w := range c.Words {
			if slices.Contains(argumentWords(p.last().Args), w.Name) {
				list = append(list, w)
			}
		}
	}
	return list
}

// argumentWords returns the words of arguments without brackets and dots.
func argumentWords(args string) []string {
	return strings.FieldsFunc(args, func(r rune) bool { return strings.ContainsRune("[]().| ", r) })
}

// form returns the name of a command with its arguments.
func (c *Command) form() string { return strings.TrimSpace(c.Name + " " + c.Args) }

// Form returns the shortest form of a command of the program, such as "appserver web". It reports false if the table
// does not have the command.
func (p *Program) Form(name string) (string, bool) {
	c := p.Root.nested(name)
	if c == nil {
		return "", false
	}
	words := []string{p.Root.Name, name}
	for word := range strings.FieldsSeq(c.Args) {
		if !strings.HasPrefix(word, "[") {
			words = append(words, word)
		}
	}
	return strings.Join(words, " "), true
}

// choices is a value with words that the completion offers.
type choices struct {
	flag.Value
	words []string
	list  bool // the value has words between commas
}

// IsBoolFlag reports false: a flag with words needs a value.
func (choices) IsBoolFlag() bool { return false }

// Choices makes the completion offer words for a flag that is defined.
func Choices(flags *flag.FlagSet, name string, words ...string) {
	f := flags.Lookup(name)
	f.Value = choices{f.Value, words, false}
}

// ChoiceList does the same as Choices for a flag whose value has words between commas.
func ChoiceList(flags *flag.FlagSet, name string, words ...string) {
	f := flags.Lookup(name)
	f.Value = choices{f.Value, words, true}
}
