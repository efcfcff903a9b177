package cli

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/server"
)

// contextRow is a command of appserver context.
type contextRow struct {
	name, doc string
	// args are the arguments after the thread. flags lists the flags, except --json, --last and the shared ones.
	args  string
	flags string
	run   func(*contextCall) error
}

const (
	// The arguments of a command after the thread.
	noArgs      = ""
	itemArgs    = " ITEM..."
	itemAndText = " ITEM... TEXT"

	// editCommand is the only command that uses the whole terminal.
	editCommand = "edit"

	pruneFlags = "category before-turn first keep-last keep-last-outputs"
	pruneUsage = " --category CATEGORIES [--before-turn ID | --first N | --keep-last N | --keep-last-outputs N]"
)

func contextRows() []contextRow {
	return []contextRow{
		{"list", "list the items with their tokens and states, and the usage by category", noArgs, "all", (*contextCall).list},
		{"usage", "print the tokens of the context by category", noArgs, "", (*contextCall).usage},
		{editCommand, "edit the context on the terminal: a list with prices, search, a plan and its effect", noArgs, "", (*contextCall).edit},
		{"exclude", "stop sending items to the model; keep them in the list", itemArgs, "revision", (*contextCall).exclude},
		{"include", "send excluded items again", itemArgs, "revision", (*contextCall).include},
		{"delete", "remove items from the list; ask for confirmation", itemArgs, "yes revision", (*contextCall).remove},
		{"pin", "protect items from prune, trim and compaction", itemArgs, "revision", (*contextCall).pin},
		{"unpin", "end the protection of pinned items", itemArgs, "revision", (*contextCall).unpin},
		{"note", "attach a note to items, which the model never receives", itemAndText, "revision", (*contextCall).note},
		{"unnote", "remove the notes of items", itemArgs, "revision", (*contextCall).unnote},
		{"prune", "exclude all items of some categories, except pinned items", noArgs, pruneFlags + " revision", (*contextCall).prune},
		{"preview", "print the effect of prune, and change nothing", noArgs, pruneFlags, (*contextCall).preview},
		{"undo", "undo the last edit", noArgs, "revision", (*contextCall).undo},
		{"redo", "redo the edit that was undone last", noArgs, "revision", (*contextCall).redo},
		{"edits", "list the edits", noArgs, "", (*contextCall).edits},
		{"restore", "undo all edits except pins; ask for confirmation", noArgs, "yes from-backup revision", (*contextCall).restore},
		{"prompt", "print the next model request", noArgs, "", (*contextCall).prompt},
	}
}

// Context shows and edits the context of a stored thread with the methods of the protocol.
func Context(args []string, s app.Streams, o *app.Options) error {
	c, err := newContextCall(args, s, o)
	if errors.Is(err, flag.ErrHelp) {
		return contextUsage(s.Out)
	}
	if err != nil {
		return app.UsageError{Err: err}
	}
	if err := c.serve(); err != nil {
		return plainError{fmt.Errorf("context %s: %w", c.row.name, err)}
	}
	return nil
}

// contextUsage prints the usage to standard output, because it was requested.
func contextUsage(w io.Writer) error {
	fmt.Fprint(w, "Usage: appserver context COMMAND THREAD [arguments and flags, in any order]\n\nCommands:\n")
	for _, row := range contextRows() {
		form := row.name + " THREAD" + row.args
		if strings.HasPrefix(row.flags, pruneFlags) {
			form += pruneUsage
		}
		fmt.Fprintf(w, "  %s\n        %s\n", form, row.doc)
	}
	fmt.Fprintf(w, `
THREAD is a thread id, its beginning or end, or the path of its rollout.
ITEM is an id (r12), an index (4) or a range of indices (3-7), as list prints them.
CATEGORIES is one category or more, separated by commas: %s.

Flags:
`, categories())
	flags := flag.NewFlagSet("context", flag.ContinueOnError)
	flags.SetOutput(w)
	o := contextOptions{Options: app.DefaultOptions()}
	o.define(flags)
	flags.PrintDefaults()
	return nil
}

// contextCall is a running context command.
type contextCall struct {
	row    *contextRow
	o      contextOptions
	client *app.LocalClient
	asker  asker
	thread string // the word of the command line, then the id
	items  []target
	text   string
	errs   io.Writer
	// to is standard output. It receives out after the thread is unloaded.
	to    io.Writer
	out   bytes.Buffer
	width int
	now   time.Time
}

// newContextCall parses a command line. Its error is flag.ErrHelp if the usage is requested.
func newContextCall(args []string, s app.Streams, o *app.Options) (*contextCall, error) {
	c := &contextCall{o: contextOptions{Options: o}, errs: s.Err, to: s.Out, width: widthOf(s.Out), now: time.Now()}
	rest, err := c.o.parse(args)
	if err == nil && len(rest) == 0 {
		err = flag.ErrHelp
	}
	if err != nil {
		return nil, err
	}
	rows := contextRows()
	for i := range rows {
		if rows[i].name == rest[0] {
			c.row = &rows[i]
		}
	}
	if c.row == nil {
		return nil, fmt.Errorf("unknown command %q", "context "+rest[0])
	}
	if err := c.o.check(c.row, rest[1:]); err != nil {
		return nil, err
	}
	rest = rest[1:]
	if !c.o.last {
		c.thread, rest = rest[0], rest[1:]
	}
	c.asker = newAsker(s, c.o.yes)
	if c.row.name == editCommand {
		return c, checkTerminal(s)
	}
	if c.row.args == itemAndText {
		last := len(rest) - 1
		c.text, rest = rest[last], rest[:last]
	}
	c.items, err = parseTargets(rest)
	return c, err
}

// serve runs the command, unloads the thread and prints the result. It prints last, because a blocked
// output would keep the thread loaded.
func (c *contextCall) serve() (err error) {
	errs := c.errs
	if c.row.name == editCommand {
		held := &heldWriter{to: c.errs}
		defer held.release()
		errs = held
	}
	log := server.NewLogger(errs, c.o.LogLevel, c.o.LogFormat == "json")
	defer func() { _ = log.Sync() }() // standard error may be closed by now
	if c.client, err = app.OpenLocalClient(c.o.Options, log); err != nil {
		return err
	}
	err = c.work()
	if err = cmp.Or(err, c.client.Close()); err != nil {
		return err
	}
	if _, err := c.to.Write(c.out.Bytes()); err != nil {
		return fmt.Errorf("the command succeeded, but its result cannot be printed: %w", err)
	}
	return nil
}

func (c *contextCall) work() (err error) {
	if c.thread, err = findThread(c.client, c.thread, c.o.last); err != nil {
		return err
	}
	return c.row.run(c)
}

// printLine appends a line to the output.
func (c *contextCall) printLine(format string, args ...any) {
	fmt.Fprintln(&c.out, termtext.Plain(fmt.Sprintf(format, args...)))
}
