package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
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

// storeRow is a command of appserver store.
type storeRow struct {
	name, args, doc string
	// first runs before the stores are opened. both runs with both stores, unless it is nil.
	first func(*storeCall) error
	both  func(c *storeCall, args []string) error
}

func storeRows() []storeRow {
	return []storeRow{
		{"init", "", "create or update the tables of the database, and check that a server can use it", (*storeCall).migrate, (*storeCall).init},
		{"migrate", "", "update the tables of the database, and do nothing else", (*storeCall).migrate, nil},
		{"status", "", "print the version of the database and of its tables, its standbys, the servers that use it, and the number of threads; change nothing",
			(*storeCall).status, nil},
		{"import", "", "copy the threads of CODEX_HOME into the database; threads that are there already are not changed", nil, (*storeCall).importThreads},
		{"export", "DIR", "copy the threads of the database as rollouts into the home DIR", nil, (*storeCall).export},
		{redactStore, "[THREAD...]", "remove secrets from threads of the database, or from all of them; keep no copy, and ask for confirmation", nil, (*storeCall).redact},
	}
}

// redactStore is the only command that asks for confirmation.
const redactStore = "redact"

// store copies threads between the files of a home and a database, and redacts those of the database.
func (c commands) store() cmdline.Command {
	store := cmdline.Command{Name: "store", Group: groupThreads,
		Doc:   "copy threads between files and a database; redact those of the database",
		Text:  `The database is that of store.url_env, with store.kind = "postgres".`,
		Words: []cmdline.Word{{Name: "THREAD", Doc: "a whole thread id"}}}
	for _, row := range storeRows() {
		store.Commands = append(store.Commands, cmdline.Command{Name: row.name, Doc: row.doc, Args: row.args,
			Define: func(flags *flag.FlagSet) cmdline.Run {
				call := &storeCall{Options: c.options, out: c.Out, errs: c.Err}
				c.options.DefineConfig(flags)
				if row.name == redactStore {
					flags.BoolVar(&call.yes, "yes", false, "skip the confirmation")
					flags.BoolVar(&call.dryRun, "dry-run", false, "print the changes, and make none")
				}
				return func(args []string) error {
					call.asker = newAsker(c.Streams, call.yes)
					return call.serve(row, args)
				}
			}})
	}
	return store
}

func (c *storeCall) serve(row storeRow, args []string) (err error) {
	if row.args == "DIR" && len(args) == 0 {
		return app.UsageError{Err: fmt.Errorf("store %s: DIR is missing", row.name)}
	}
	if row.first != nil {
		err = row.first(c)
	}
	if err == nil && row.both != nil {
		if c.Stores, err = app.OpenStores(c.Options); err == nil {
			err = errors.Join(row.both(c, args), c.Close())
		}
	}
	if usage := (app.UsageError{}); err == nil || errors.As(err, &usage) {
		return err
	}
	return fmt.Errorf("store %s: %w", row.name, err)
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
func (c *storeCall) init([]string) error {
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

func (c *storeCall) importThreads([]string) error { return c.copyAll(c.Files, c.Database) }

func (c *storeCall) export(args []string) error { return c.copyAll(c.Database, c.FilesIn(args[0])) }

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
