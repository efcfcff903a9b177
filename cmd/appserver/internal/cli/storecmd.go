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
	yes, dryRun bool
	asker       asker
	out, errs   io.Writer
}

// Store copies threads between the files of a home and a database, and redacts those of the database.
func Store(args []string, s app.Streams, o *app.Options) error {
	c := &storeCall{Options: o, out: s.Out, errs: s.Err}
	flags := flag.NewFlagSet("store", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	c.define(flags)
	rest, err := parseAnyOrder(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp), err == nil && len(rest) == 0:
		return storeUsage(s.Out)
	case err != nil:
		return app.UsageError{Err: err}
	case (c.yes || c.dryRun) && rest[0] != "redact":
		return app.UsageError{Err: fmt.Errorf("store %s has no flags --yes and --dry-run", rest[0])}
	}
	c.asker = newAsker(s, c.yes)
	run, err := c.command(rest)
	if err != nil {
		return app.UsageError{Err: err}
	}
	switch rest[0] {
	case "init", "migrate":
		err = c.migrate()
	case "status":
		err = c.status()
	}
	if err == nil && run != nil {
		if c.Stores, err = app.OpenStores(o); err == nil {
			err = errors.Join(run(), c.Close())
		}
	}
	if usage := (app.UsageError{}); err == nil || errors.As(err, &usage) {
		return err
	}
	return plainError{fmt.Errorf("store %s: %w", rest[0], err)}
}

func (c *storeCall) define(flags *flag.FlagSet) {
	flags.BoolVar(&c.yes, "yes", false, "redact: skip the confirmation")
	flags.BoolVar(&c.dryRun, "dry-run", false, "redact: print the changes, and make none")
	c.DefineConfig(flags)
}

// command returns the part of a command that needs both stores, or nil.
func (c *storeCall) command(args []string) (run func() error, err error) {
	switch name, n := args[0], len(args)-1; {
	case (name == "migrate" || name == "status") && n == 0:
		return nil, nil
	case name == "init" && n == 0:
		return c.init, nil
	case name == "import" && n == 0:
		return c.importThreads, nil
	case name == "export" && n == 1:
		return func() error { return c.export(args[1]) }, nil
	case name == "redact":
		return func() error { return c.redact(args[1:]) }, nil
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
        print the version of the database and of its tables, its standbys, the servers that use it, and the number
        of threads; change nothing
  import
        copy the threads of CODEX_HOME into the database; threads that are there already are not changed
  export DIR
        copy the threads of the database as rollouts into the home DIR
  redact [THREAD...]
        remove secrets from threads of the database, or from all of them; keep no copy, and ask for confirmation

The database is that of store.url_env, with store.kind = "postgres".

Flags:
`)
	flags := flag.NewFlagSet("store", flag.ContinueOnError)
	flags.SetOutput(w)
	(&storeCall{Options: app.DefaultOptions()}).define(flags)
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
	s, err := app.StoreStatus(c.Options)
	if err != nil {
		return err
	}
	tables, standbys := "", "none"
	switch {
	case s.Schema > s.KnownSchema:
		tables = ": a newer program has updated them; upgrade this one"
	case s.Schema < s.KnownSchema:
		tables = ": run appserver store migrate to update them"
	}
	switch {
	case s.AreStandbysHidden && len(s.Standbys) == 0:
		standbys = "not visible to this role, which needs the rights of pg_read_all_stats"
	case s.StandbyNames != "":
		standbys = "none is connected, synchronous_standby_names = " + termtext.Plain(s.StandbyNames)
	}
	_, err = fmt.Fprintf(c.out, "PostgreSQL: %s\ntables: version %d of %d%s\nsynchronous standbys: %s\nservers: %s\nthreads: %s\n",
		s.Server, s.Schema, s.KnownSchema, tables, listOr(s.Standbys, standbys), listOr(s.Nodes, "none"),
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

// each calls do for the threads of a store, also for those that lists omit, and skip for each file that
// cannot be read.
func each(from store.Threads, skip func(error), do func(head rollout.Head, archived bool)) error {
	for _, archived := range []bool{false, true} {
		q := rollout.Query{Limit: storePage, Archived: archived, Ascending: true, Unlisted: true}
		for more := true; more; more = q.Cursor != "" {
			page, err := from.List(q)
			if err != nil {
				return err
			}
			for _, skipped := range page.Skipped {
				skip(skipped)
			}
			for _, head := range page.Heads {
				do(head, archived)
			}
			q.Cursor = page.NextCursor
		}
	}
	return nil
}

// copyAll copies all threads. A thread that cannot be copied is reported; the others are copied.
func (c *storeCall) copyAll(from, to store.Threads) error {
	var copied, unchanged, failed int
	report := func(err error) {
		failed++
		fmt.Fprintf(c.out, "not copied: %s\n", termtext.Plain(err.Error()))
	}
	err := each(from, report, func(head rollout.Head, archived bool) {
		done, err := store.Copy(from, to, head, archived)
		switch {
		case err != nil:
			report(fmt.Errorf("%s: %w", head.ID, err))
		case done.New == 0:
			unchanged++
		default:
			copied++
			fmt.Fprintf(c.out, "copied: %s, %s\n", head.ID, termtext.Counted(done.New, "line"))
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "%s copied, %d there already, %d not copied\n", termtext.Counted(copied, "thread"), unchanged, failed)
	if failed > 0 {
		return fmt.Errorf("not all threads could be copied: see above")
	}
	return nil
}
