package cli

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"time"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
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

// context shows and edits the context of a stored thread with the methods of the protocol.
func (c commands) context() cmdline.Command {
	context := cmdline.Command{Name: "context", Doc: "show and edit the context of a stored thread", Group: groupStart,
		Words: []cmdline.Word{threadWord(),
			{Name: "ITEM", Doc: "an id (r12), an index (4) or a range of indices (3-7), as list prints them"},
			{Name: "TEXT", Doc: "one word; put a longer text in quotes"}}}
	for _, row := range contextRows() {
		context.Commands = append(context.Commands, cmdline.Command{Name: row.name, Doc: row.doc,
			Args: "THREAD" + row.args, Define: func(flags *flag.FlagSet) cmdline.Run { return c.contextCommand(row, flags) }})
	}
	return context
}

func threadWord() cmdline.Word {
	return cmdline.Word{Name: "THREAD", Doc: "a thread id, its beginning or end, or the path of its rollout; or give --last"}
}

func (c commands) contextCommand(row contextRow, flags *flag.FlagSet) cmdline.Run {
	call := &contextCall{row: &row, o: contextOptions{Options: c.options}, errs: c.Err, to: c.Out}
	c.options.DefineShared(flags)
	pick(flags, call.o.define, "last "+row.flags)
	if row.name != editCommand {
		pick(flags, call.o.define, "json")
	}
	return func(args []string) error {
		if err := call.read(c.Streams, args); err != nil {
			return app.UsageError{Err: err}
		}
		if err := call.serve(); err != nil {
			return fmt.Errorf("context %s: %w", row.name, err)
		}
		return nil
	}
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

// read checks the flags and reads the arguments.
func (c *contextCall) read(s app.Streams, args []string) (err error) {
	c.width, c.now, c.asker = widthOf(s.Out), time.Now(), newAsker(s, c.o.yes)
	if err := c.o.check(c.row, args); err != nil {
		return err
	}
	if !c.o.last {
		c.thread, args = args[0], args[1:]
	}
	if c.row.name == editCommand {
		return checkTerminal(s)
	}
	if c.row.args == itemAndText {
		last := len(args) - 1
		c.text, args = args[last], args[:last]
	}
	c.items, err = parseTargets(args)
	return err
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
