package cmdline

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// Page has the parts of the manual page that the table does not have.
type Page struct {
	Version, Date string
	// Summary is the line behind the name. Description are the paragraphs about the program.
	Summary, Description string
	// Sections follow the commands. The entries of each are words with their explanations.
	Sections []Section
}

// Section is a part of the manual page.
type Section struct {
	Title   string
	Entries []Word
}

// roffText protects what roff would interpret.
func roffText(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// roff writes a page in the macros of man(7).
type roff struct{ strings.Builder }

func (r *roff) macro(name string, words ...string) {
	r.WriteString("." + name)
	for _, w := range words {
		r.WriteString(` "` + strings.ReplaceAll(roffText(w), `"`, `\(dq`) + `"`)
	}
	r.WriteByte('\n')
}

// text writes paragraphs, which empty lines separate. An indented paragraph keeps its lines.
func (r *roff) text(text string) {
	for i, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		verbatim := strings.Contains("\n"+part, "\n  ")
		if i > 0 {
			r.macro("PP")
		}
		if verbatim {
			r.macro("nf")
		}
		fmt.Fprintln(r, roffText(part))
		if verbatim {
			r.macro("fi")
		}
	}
}

func (r *roff) entry(term, doc string) {
	r.macro("TP")
	r.macro("B", term)
	fmt.Fprintln(r, roffText(doc))
}

// Manual returns the manual page.
func (p *Program) Manual(page Page) string {
	r := &roff{}
	fmt.Fprintf(r, ".TH %s 1 \"%s\" \"%s\" \"User Commands\"\n", strings.ToUpper(p.Root.Name), page.Date,
		roffText(p.Root.Name+" "+page.Version)) // a date is not escaped
	r.macro("SH", "NAME")
	fmt.Fprintln(r, roffText(p.Root.Name+" - "+page.Summary))
	r.macro("SH", "SYNOPSIS")
	r.macro("B", p.Root.Name)
	fmt.Fprintln(r, roffText("[flags] [COMMAND] [arguments and flags]"))
	r.macro("SH", "DESCRIPTION")
	r.text(page.Description)
	r.macro("SH", "COMMANDS")
	p.each(func(at path) {
		if len(at) > 1 {
			p.manualCommand(r, at)
		}
	})
	own, shared := p.flagsOf(&p.Root)
	r.macro("SH", "FLAGS")
	r.manualFlags(own)
	r.macro("SH", "FLAGS FOR THE CONFIGURATION AND THE LOG")
	r.manualFlags(shared)
	for _, s := range page.Sections {
		r.macro("SH", s.Title)
		for _, e := range s.Entries {
			r.entry(e.Name, e.Doc)
		}
	}
	return r.String()
}

func (p *Program) manualCommand(r *roff, at path) {
	c := at.last()
	r.macro("SS", strings.TrimSpace(at.short()+" "+c.Args))
	fmt.Fprintln(r, roffText(sentence(c.Doc)+"."))
	if c.Text != "" {
		r.macro("PP")
		r.text(c.Text)
	}
	for _, w := range c.Words {
		r.entry(w.Name, sentence(w.Doc)+".")
	}
	own, _ := p.flagsOf(c)
	r.manualFlags(own)
}

func (r *roff) manualFlags(list []*flag.Flag) {
	for _, f := range list {
		form, doc := flagForm(f)
		r.entry(form, sentence(doc)+".")
	}
}

// ManualCommand returns the command that prints the manual page.
func (p *Program) ManualCommand(group string, page func() Page) Command {
	return Command{Name: "man", Doc: "print the manual page, for example for man -l -", Group: group,
		Define: func(*flag.FlagSet) Run {
			return func([]string) error {
				_, err := io.WriteString(p.Out, p.Manual(page()))
				return err
			}
		}}
}

// Reference returns all commands with their flags as Markdown, for the documentation.
func (p *Program) Reference() string {
	server, shared := p.flagsOf(&p.Root)
	var b strings.Builder
	b.WriteString("| command | effect | flags |\n| --- | --- | --- |\n")
	p.each(func(at path) {
		c := at.last()
		own, shared := p.flagsOf(c)
		if len(at) == 1 || c.Define == nil {
			return
		}
		var flags []string
		for _, f := range own {
			form, _ := flagForm(f)
			flags = append(flags, "`"+form+"`")
		}
		if len(own) == len(server) {
			flags = []string{"[server](#flags-of-the-server)"}
		}
		if len(shared) > 0 {
			flags = append(flags, "[shared](#shared-flags)")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", cell(strings.TrimSpace(at.String()+" "+c.Args)), cell(c.Doc),
			strings.Join(flags, ", "))
	})
	b.WriteString("\n### Flags of the server\n\n" + referenceFlags(server))
	b.WriteString("\n### Shared flags\n\n" + referenceFlags(shared))
	return b.String()
}

func referenceFlags(list []*flag.Flag) string {
	var b strings.Builder
	b.WriteString("| flag | effect |\n| --- | --- |\n")
	for _, f := range list {
		form, doc := flagForm(f)
		fmt.Fprintf(&b, "| `%s` | %s |\n", cell(form), cell(doc))
	}
	return b.String()
}

// cell returns a text for a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
