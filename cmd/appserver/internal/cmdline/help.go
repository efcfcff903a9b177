package cmdline

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// helpFor writes the help of the command that names lead to.
func (p *Program) helpFor(at path, names []string) error {
	for _, name := range names {
		nested := at.last().nested(name)
		if nested == nil {
			return at.usage(fmt.Errorf("unknown command %q%s", at.with(&Command{Name: name}).short(), p.meant(at, name)))
		}
		at = at.with(nested)
	}
	return p.Help(at, p.Out)
}

// HelpCommand returns the command help of the program.
func (p *Program) HelpCommand(group string) Command {
	return Command{Name: "help", Doc: "print the help of a command", Args: "[COMMAND...]", Group: group,
		Define: func(*flag.FlagSet) Run {
			return func(args []string) error { return p.helpFor(path{&p.Root}, args) }
		}}
}

// Help writes the help of a command.
func (p *Program) Help(at path, to io.Writer) error {
	c := at.last()
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s\n", at.synopsis())
	if len(at) > 1 {
		fmt.Fprintf(&b, "\n%s.\n", sentence(c.Doc))
	}
	if c.Text != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Text))
	}
	p.writeCommands(&b, c)
	words := at.words()
	if len(c.names()) > 0 {
		words = c.Words
	}
	if len(words) > 0 {
		b.WriteString("\n")
	}
	for _, w := range words {
		fmt.Fprintf(&b, "%s is %s.\n", w.Name, w.Doc)
	}
	own, shared := p.flagsOf(c)
	writeFlags(&b, "Flags", own)
	writeFlags(&b, "Flags for the configuration and the log", shared)
	if len(c.names()) > 0 {
		fmt.Fprintf(&b, "\nRun %s help %s for one of the commands.\n", at[0].Name, strings.TrimSpace(at.short()+" COMMAND"))
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// synopsis returns the form of a command line.
func (p path) synopsis() string {
	c := p.last()
	if len(c.names()) == 0 {
		return strings.TrimSpace(p.String()+" "+c.Args) + " [flags]"
	}
	if c.Define == nil {
		return p.String() + " COMMAND [arguments and flags, in any order]"
	}
	return p.String() + " [flags] [COMMAND] [arguments and flags]"
}

// writeCommands lists nested commands: with their groups in two columns, or each with its form and its line.
func (p *Program) writeCommands(b *strings.Builder, c *Command) {
	if !c.hasGroups() {
		if len(c.names()) > 0 {
			b.WriteString("\nCommands:\n")
		}
		for _, name := range c.names() {
			n := c.nested(name)
			fmt.Fprintf(b, "  %s\n        %s\n", n.form(), n.Doc)
		}
		return
	}
	for _, group := range p.Groups {
		fmt.Fprintf(b, "\n%s:\n", group)
		for _, n := range c.Commands {
			if n.Group == group && !n.Hidden {
				fmt.Fprintf(b, "  %-20s  %s\n", n.Name, n.Doc)
			}
		}
	}
}

// sentence returns a text that begins with a capital letter.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// flagsOf returns the flags of a command that runs: its own, and those that many commands have.
func (p *Program) flagsOf(c *Command) (own, shared []*flag.Flag) {
	if c.Define == nil {
		return nil, nil
	}
	common := flag.NewFlagSet("", flag.ContinueOnError)
	p.Shared(common)
	flags, _ := c.define()
	flags.VisitAll(func(f *flag.Flag) {
		if common.Lookup(f.Name) != nil {
			shared = append(shared, f)
		} else {
			own = append(own, f)
		}
	})
	return own, shared
}

// flagForm returns a flag with the name of its value.
func flagForm(f *flag.Flag) (form, doc string) {
	value, doc := flag.UnquoteUsage(f)
	if isBool(f) {
		value = ""
	}
	return strings.TrimSpace(spelled(f.Name) + " " + value), doc
}

func writeFlags(b *strings.Builder, title string, list []*flag.Flag) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, f := range list {
		form, doc := flagForm(f)
		if !slices.Contains([]string{"", "false", "0", "[]"}, f.DefValue) && !strings.Contains(doc, "default") {
			doc += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, "  %s\n        %s\n", form, doc)
	}
}

// each calls do for the program and all listed commands, each before those that it contains.
func (p *Program) each(do func(path)) { visit(path{&p.Root}, do) }

func visit(at path, do func(path)) {
	do(at)
	c := at.last()
	for _, name := range c.names() {
		visit(at.with(c.nested(name)), do)
	}
}
