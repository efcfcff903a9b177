package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
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
	run, err := c.command(rest)
	if err != nil {
		return app.UsageError{Err: err}
	}
	if rest[0] == "init" || rest[0] == "migrate" {
		err = c.migrate()
	}
	if err == nil && run != nil {
		if c.Stores, err = app.OpenStores(o); err == nil {
			err = errors.Join(run(), c.Close())
		}
	}
	if err != nil {
		return plainError{fmt.Errorf("store %s: %w", rest[0], err)}
	}
	return nil
}

// command returns the part of a command that needs both stores, or nil.
func (c *storeCall) command(args []string) (run func() error, err error) {
	switch name, n := args[0], len(args)-1; {
	case name == "migrate" && n == 0:
		return nil, nil
	case name == "init" && n == 0:
		return c.init, nil
	case name == "status" && n == 0:
		return c.status, nil
	case name == "import" && n == 0:
		return c.importThreads, nil
	case name == "export" && n == 1:
		return func() error { return c.export(args[1]) }, nil
	case slices.Contains([]string{"init", "migrate", "status", "import", "export"}, name):
		return nil, fmt.Errorf("store %s: wrong number of arguments", name)
	}
	return nil, fmt.Errorf("unknown command %q", "store "+args[0])
}

// storeUsage prints the usage to standard output, because it was requested.
func storeUsage(w io.Writer) error {
	fmt.Fprint(w, `Usage: appserver store COMMAND [flags, in any order]

Commands:
  init
        create or update the tables of the database, and check that a server can use it
  migrate
        update the tables of the database, and do nothing else
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

// migrate updates the tables and prints their versions.
func (c *storeCall) migrate() error {
	from, to, err := app.MigrateStore(c.Options)
	switch {
	case err != nil:
		return err
	case from == to:
		_, err = fmt.Fprintf(c.out, "tables: version %d, unchanged\n", to)
	default:
		_, err = fmt.Fprintf(c.out, "tables: version %d, updated to %d\n", from, to)
	}
	return err
}

// init reports that the database can be used, because it was opened.
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
