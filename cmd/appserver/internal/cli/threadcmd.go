package cli

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"appserver/cmd/appserver/internal/app"
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

const threadUsage = `Usage: appserver thread export THREAD [--format md|json|html] [--out FILE]
       appserver thread import FILE

export writes a stored thread as a document, or as JSON for import.
import creates a thread from this JSON or from a rollout, and prints the thread id.
THREAD is a thread id, its beginning or end, or the path of its rollout.

Flags:
`

// Thread exports threads from the home, and imports threads into it.
func Thread(args []string, s app.Streams, o *app.Options) error {
	c := &threadCall{Options: o, Streams: s}
	rest, err := c.read(args)
	if errors.Is(err, flag.ErrHelp) {
		return c.usage()
	}
	if err != nil {
		return app.UsageError{Err: err}
	}
	run := map[string]func(string) error{"export": c.export, "import": c.importThread}[rest[0]]
	switch {
	case run == nil:
		return app.UsageError{Err: fmt.Errorf("unknown command %q", "thread "+rest[0])}
	case len(rest) > 2:
		return app.UsageError{Err: fmt.Errorf("unexpected argument %q", rest[2])}
	case len(rest) == 1 && !(c.last && rest[0] == "export"):
		return app.UsageError{Err: errors.New(map[string]string{
			"export": "thread export: THREAD is missing: " + threadForms,
			"import": "thread import: FILE is missing: give the path of a rollout, or of JSON that export wrote",
		}[rest[0]])}
	}
	c.imports = rest[0] == "import"
	if err := c.serve(run, strings.Join(rest[1:], "")); err != nil {
		return plainError{fmt.Errorf("thread %s: %w", rest[0], err)}
	}
	return nil
}

func (c *threadCall) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("thread", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	c.DefineShared(flags)
	flags.StringVar(&c.format, "format", "md", "export: write the `FORMAT` md, json or html")
	flags.StringVar(&c.out, "out", "", "export: write to the new file `FILE`, not to standard output")
	flags.BoolVar(&c.last, "last", false, "export: use the thread that was written last, instead of THREAD")
	return flags
}

// read parses flags before, between and after the arguments.
func (c *threadCall) read(args []string) (rest []string, err error) {
	flags := c.flags()
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if args = flags.Args(); len(args) > 0 {
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	switch c.format {
	case "md", "json", "html":
	default:
		return nil, fmt.Errorf("--format %s: expected md, json or html", c.format)
	}
	if len(rest) == 0 {
		return nil, flag.ErrHelp
	}
	return rest, nil
}

func (c *threadCall) usage() error {
	fmt.Fprint(c.Streams.Out, threadUsage)
	flags := c.flags()
	flags.SetOutput(c.Streams.Out)
	flags.PrintDefaults()
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
