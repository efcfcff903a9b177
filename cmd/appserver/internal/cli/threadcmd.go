package cli

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
	"appserver/core/pure/export"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
	"appserver/server"
)

// exportedThread is the JSON form of a thread: the thread as thread/read returns it, and the lines of its
// rollout. import creates the thread from the lines.
type exportedThread struct {
	Thread *protocol.Thread       `json:"thread"`
	Lines  []protocol.RolloutLine `json:"lines"`
}

// threadCall is a running thread command.
type threadCall struct {
	*app.Options
	app.Streams
	format, out string
	last        bool
	imports     bool
	client      *app.LocalClient
}

// thread lists the threads of the home, exports them, and imports threads into it.
func (c commands) thread() cmdline.Command {
	return cmdline.Command{Name: "thread", Doc: "list, export and import stored threads", Group: groupThreads,
		Words: []cmdline.Word{threadWord()}, Commands: []cmdline.Command{
			{Name: "list", Doc: "list stored threads, the newest first; with --agents also the agents below their parents",
				Define: c.threadList},
			{Name: "export", Doc: "write a stored thread as a document, or as JSON for import", Args: "THREAD",
				Define: c.threadExport},
			{Name: "import", Doc: "create a thread from this JSON or from a rollout, and print the thread id", Args: "FILE",
				Define: c.threadImport},
		}}
}

func (c commands) threadExport(flags *flag.FlagSet) cmdline.Run {
	call := &threadCall{Options: c.options, Streams: c.Streams}
	c.options.DefineShared(flags)
	flags.StringVar(&call.format, "format", "md", "write the `FORMAT` md, json or html")
	cmdline.Choices(flags, "format", "md", "json", "html")
	flags.StringVar(&call.out, "out", "", "write to the new file `FILE`, not to standard output")
	flags.BoolVar(&call.last, "last", false, "use the thread that was written last, instead of THREAD")
	return func(args []string) error {
		switch call.format {
		case "md", "json", "html":
		default:
			return app.UsageError{Err: fmt.Errorf("--format %s: expected md, json or html", call.format)}
		}
		if len(args) == 0 && !call.last {
			return app.UsageError{Err: errors.New("thread export: THREAD is missing: " + threadForms)}
		}
		return call.run("export", call.export, strings.Join(args, ""))
	}
}

func (c commands) threadImport(flags *flag.FlagSet) cmdline.Run {
	call := &threadCall{Options: c.options, Streams: c.Streams, imports: true}
	c.options.DefineShared(flags)
	return func(args []string) error {
		if len(args) == 0 {
			return app.UsageError{Err: errors.New("thread import: FILE is missing: give the path of a rollout, or of JSON that export wrote")}
		}
		return call.run("import", call.importThread, args[0])
	}
}

func (c *threadCall) run(name string, run func(string) error, word string) error {
	if err := c.serve(run, word); err != nil {
		return fmt.Errorf("thread %s: %w", name, err)
	}
	return nil
}

func (c *threadCall) serve(run func(string) error, word string) (err error) {
	log := server.NewLogger(c.Err, c.LogLevel, c.LogFormat == "json")
	defer func() { _ = log.Sync() }() // standard error may be closed by now
	if c.imports {
		if err := makeHome(); err != nil {
			return err
		}
	}
	if c.client, err = app.OpenLocalClient(c.Options, log); err != nil {
		return err
	}
	err = run(word)
	return cmp.Or(err, c.client.Close())
}

// makeHome creates the home if it does not exist.
func makeHome() error {
	home, err := app.CodexHome()
	if err != nil {
		return err
	}
	return os.MkdirAll(home, 0o700)
}

func (c *threadCall) export(word string) error {
	id, err := findThread(c.client, word, c.last)
	if err != nil {
		return err
	}
	read, err := app.Call[protocol.ThreadReadResponse](c.client, "thread/read",
		protocol.ThreadReadParams{ThreadID: id, IncludeTurns: true})
	if err != nil {
		return err
	}
	text, err := c.document(&read.Thread)
	if err != nil {
		return err
	}
	return c.write(text)
}

func (c *threadCall) document(t *protocol.Thread) ([]byte, error) {
	switch c.format {
	case "html":
		return export.HTML(t), nil
	case "json":
		var lines rollout.LineList
		at := store.Ref{ID: t.ID}
		if t.Path != nil {
			at.Path = *t.Path
		}
		_, reader, err := c.client.Threads.Load(at, &lines)
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		err = writeJSON(&text, exportedThread{t, lines})
		return text.Bytes(), errors.Join(err, reader.Close())
	}
	return export.Markdown(t), nil
}

// write writes the document to its destination. It never overwrites a file.
func (c *threadCall) write(text []byte) error {
	if c.out == "" {
		_, err := c.Streams.Out.Write(text)
		return err
	}
	file, err := os.OpenFile(c.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = cmp.Or(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(c.out))
	}
	return nil
}

func (c *threadCall) importThread(path string) error {
	lines, err := c.lines(path)
	if err != nil {
		return err
	}
	if r := c.client.Redactor; r != nil {
		for i := range lines {
			lines[i] = r.Line(lines[i])
		}
	}
	id, err := store.Import(c.client.Threads, lines)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.Streams.Out, id)
	return err
}

// lines returns the lines of a rollout, or of the JSON that export wrote.
func (c *threadCall) lines(path string) ([]protocol.RolloutLine, error) {
	var file struct {
		Lines []protocol.RolloutLine `json:"lines"`
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil, fmt.Errorf("%w: give the path of a rollout, or of JSON that export wrote", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if protocol.Unmarshal(text, &file) == nil && file.Lines != nil {
		return file.Lines, nil
	}
	contents, err := c.client.Store.Read(path)
	if err != nil {
		return nil, err
	}
	if len(contents.Damage) > 0 {
		bad := contents.Damage[0]
		return nil, fmt.Errorf("line %d of %s cannot be read: %s", bad.Line, path, bad.Reason)
	}
	return contents.Lines, nil
}
