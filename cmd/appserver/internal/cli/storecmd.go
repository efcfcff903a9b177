package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/rollout"
	"appserver/rollout/store"
)

// storeCall is a running store command.
type storeCall struct {
	*app.Options
	*app.Stores
	out io.Writer
}

// Store copies threads between the files of a home and a database.
func Store(args []string, s app.Streams, o *app.Options) error {
	c := &storeCall{Options: o, out: s.Out}
	flags := flag.NewFlagSet("store", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	c.DefineConfig(flags)
	rest, err := parseAnyOrder(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp), err == nil && len(rest) == 0:
		return storeUsage(s.Out)
	case err != nil:
		return app.UsageError{Err: err}
	}
	var run func() error
	switch command := rest[0]; {
	case command == "init" && len(rest) == 1:
		run = c.init
	case command == "status" && len(rest) == 1:
		run = c.status
	case command == "import" && len(rest) == 1:
		run = c.importThreads
	case command == "export" && len(rest) == 2:
		run = func() error { return c.export(rest[1]) }
	case command == "init", command == "status", command == "import", command == "export":
		return app.UsageError{Err: fmt.Errorf("store %s: wrong number of arguments", command)}
	default:
		return app.UsageError{Err: fmt.Errorf("unknown command %q", "store "+command)}
	}
	if c.Stores, err = app.OpenStores(o); err == nil {
		err = errors.Join(run(), c.Close())
	}
	if err != nil {
		return plainError{fmt.Errorf("store %s: %w", rest[0], err)}
	}
	return nil
}

// storeUsage prints the usage to standard output, because it was requested.
func storeUsage(w io.Writer) error {
	fmt.Fprint(w, `Usage: appserver store COMMAND [flags, in any order]

Commands:
  init
        create or update the tables of the database, and check it
  status
        print the version of the database, its standbys, and the servers that use it
  import
        copy the threads of CODEX_HOME into the database; threads that are there already are not changed
  export DIR
        copy the threads of the database as rollouts into the home DIR

The database is that of store.url_env, with store.kind = "postgres".

Flags:
`)
	flags := flag.NewFlagSet("store", flag.ContinueOnError)
	flags.SetOutput(w)
	app.DefaultOptions().DefineConfig(flags)
	flags.PrintDefaults()
	return nil
}

// init reports that the database can be used: opening it has created its tables.
func (c *storeCall) init() error {
	_, err := fmt.Fprintln(c.out, "the database is ready")
	return err
}

// status prints a line for each fact.
func (c *storeCall) status() error {
	s, err := c.Status()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "PostgreSQL: %s\ntables: version %d of %d\nsynchronous standbys: %s\nservers: %s\nthreads: about %s\n",
		s.Server, s.Schema, s.KnownSchema, listOr(s.Standbys, "none"), listOr(s.Nodes, "none"),
		termtext.Grouped(s.Threads))
	return err
}

// listOr joins the texts of a list, or returns the alternative for an empty one.
func listOr(list []string, otherwise string) string {
	return cmp.Or(termtext.Plain(strings.Join(list, ", ")), otherwise)
}

func (c *storeCall) importThreads() error { return c.copyAll(c.Files, c.Database) }

func (c *storeCall) export(home string) error { return c.copyAll(c.Database, c.FilesIn(home)) }

// storePage is the number of threads that are listed at a time.
const storePage = 100

// copyAll copies all listed threads. A thread that cannot be copied is reported; the others are copied.
func (c *storeCall) copyAll(from, to store.Threads) error {
	var copied, unchanged, failed int
	for _, archived := range []bool{false, true} {
		q := rollout.Query{Limit: storePage, Archived: archived, Ascending: true}
		for more := true; more; more = q.Cursor != "" {
			page, err := from.List(q)
			if err != nil {
				return err
			}
			for _, skipped := range page.Skipped {
				failed++
				fmt.Fprintf(c.out, "not copied: %s\n", termtext.Plain(skipped.Error()))
			}
			for _, head := range page.Heads {
				done, err := store.Copy(from, to, head, archived)
				switch {
				case err != nil:
					failed++
					fmt.Fprintf(c.out, "not copied: %s: %s\n", head.ID, termtext.Plain(err.Error()))
				case done.New == 0:
					unchanged++
				default:
					copied++
					fmt.Fprintf(c.out, "copied: %s, %s\n", head.ID, termtext.Counted(done.New, "line"))
				}
			}
			q.Cursor = page.NextCursor
		}
	}
	fmt.Fprintf(c.out, "%s copied, %d there already, %d not copied\n", termtext.Counted(copied, "thread"), unchanged, failed)
	if failed > 0 {
		return fmt.Errorf("not all threads could be copied: see above")
	}
	return nil
}
