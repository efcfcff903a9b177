package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/core/effects/config"
	"appserver/rollout"
)

// rolloutRow is a command of appserver rollout.
type rolloutRow struct {
	name, doc string
	// flags lists the flags of the command, except --json.
	flags string
	scope scope
	// instead is the advice for threads in a database, or "" if the command fails for them.
	instead string
	run     func(*rolloutCall) error
}

// scope is the set of rollouts of a command: the named ones, all in the home, or either.
type scope int

const (
	forPaths scope = 1 << iota
	forHome
)

const exportFirst = "appserver store export DIR copies them into files"

func rolloutRows() []rolloutRow {
	return []rolloutRow{
		{"verify", "find problems in rollouts; of a folder, in all rollouts below it", "", forPaths, exportFirst, (*rolloutCall).verify},
		{"repair", "replace damaged rollouts by repaired ones, and keep the originals beside them", "", forPaths, exportFirst, (*rolloutCall).repair},
		{"redact", "remove secrets from rollouts, the files beside them, names, the index and the memory; keep no copy, and ask for confirmation", "yes dry-run c config", forPaths,
			"appserver store redact removes secrets from them", (*rolloutCall).redact},
		{"retain", "list the threads that exceed history.maxAge or history.maxBytes; with --yes, archive or delete them",
			"yes dry-run c config", forHome, "", (*rolloutCall).retain},
		{"compress", "compress the rollouts that were not written to for a number of days, or the named ones of any age",
			"dry-run older-than", forHome | forPaths, exportFirst, (*rolloutCall).compress},
	}
}

// rolloutCall is a running rollout command.
type rolloutCall struct {
	*app.Options
	json, yes, dryRun bool
	// olderThan is a number of days.
	olderThan int
	asker     asker
	home      string
	paths     []string
	out, errs io.Writer
}

// rollout verifies, repairs and redacts files of threads, and archives or deletes old threads.
func (c commands) rollout() cmdline.Command {
	rollout := cmdline.Command{Name: "rollout", Group: groupThreads,
		Doc:   "verify, repair and redact the files of threads; archive or delete old threads",
		Words: []cmdline.Word{{Name: "PATH", Doc: "the path of a rollout; for verify, also of a folder"}}}
	for _, row := range rolloutRows() {
		rollout.Commands = append(rollout.Commands, cmdline.Command{Name: row.name, Doc: row.doc, Args: row.args(),
			Define: func(flags *flag.FlagSet) cmdline.Run {
				call := &rolloutCall{Options: c.options, out: c.Out, errs: c.Err}
				pick(flags, call.define, "json "+row.flags)
				return func(args []string) error {
					call.asker = newAsker(c.Streams, call.yes)
					return call.serve(row, args)
				}
			}})
	}
	return rollout
}

// args returns the form of the arguments.
func (r *rolloutRow) args() string {
	switch r.scope {
	case forPaths:
		return "PATH..."
	case forPaths | forHome:
		return "[PATH...]"
	}
	return ""
}

func (c *rolloutCall) define(flags *flag.FlagSet) {
	flags.BoolVar(&c.json, "json", false, "print the result as one JSON document")
	flags.BoolVar(&c.yes, "yes", false, "skip the confirmation; of retain: archive or delete the listed threads")
	flags.BoolVar(&c.dryRun, "dry-run", false, "print the changes, and make none")
	flags.IntVar(&c.olderThan, "older-than", days(rollout.CompressAge), "without PATH, the `DAYS` since the last write")
	c.DefineConfig(flags)
}

func (c *rolloutCall) serve(row rolloutRow, paths []string) (err error) {
	if row.scope == forPaths && len(paths) == 0 {
		return app.UsageError{Err: fmt.Errorf("rollout %s: PATH is missing: give the path of a rollout", row.name)}
	}
	c.paths = paths
	if c.home, err = app.CodexHome(); err != nil {
		return err
	}
	c.noteDatabase(row)
	if err = row.run(c); err != nil {
		var usage app.UsageError
		if errors.As(err, &usage) {
			return err
		}
		return fmt.Errorf("rollout %s: %w", row.name, err)
	}
	return nil
}

// noteDatabase reports that the command does not reach the threads, if they are in a database. It ignores a
// configuration that cannot be read, because damaged files can be repaired without one.
func (c *rolloutCall) noteDatabase(row rolloutRow) {
	conf, err := c.config()
	if err == nil && conf.Store.Kind == config.StorePostgres && row.instead != "" {
		fmt.Fprintf(c.errs, "appserver: the threads are in a database (store.kind), and rollout %s works on files only: %s\n",
			row.name, row.instead)
	}
}

func (c *rolloutCall) config() (*config.Config, error) {
	typed := func() []string { return nil }
	conf, err := config.Load(config.Source{Home: c.home, System: config.SystemFile, Overrides: c.Overrides,
		Provider: c.Provider, Getenv: os.Getenv, Ports: config.Ports{Secrets: func() []string { return typed() }}})
	if err == nil {
		typed = app.TypedKeys(c.home, conf)
	}
	return conf, err
}

// store returns the store of the home with a rollout, so that the locks of that home apply.
func (c *rolloutCall) store(path string) *rollout.Store {
	return rollout.NewStore(rollout.OS(), c.homeOf(path))
}

// homeOf returns the home that contains a rollout, or CODEX_HOME if the path is in no home.
func (c *rolloutCall) homeOf(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		for dir := filepath.Dir(full); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if base := filepath.Base(dir); base == "sessions" || base == "archived_sessions" {
				return filepath.Dir(dir)
			}
		}
	}
	return c.home
}

// verify prints all problems and returns an error if there is one.
func (c *rolloutCall) verify() error {
	reports := []rollout.Report{}
	withProblems := 0
	err := c.eachRollout(func(path string) {
		report := c.store(path).Verify(path)
		reports = append(reports, report)
		if len(report.Findings) > 0 {
			withProblems++
		}
	})
	if err != nil {
		return err
	}
	if c.json {
		err = writeJSON(c.out, map[string]any{"rollouts": reports})
	} else {
		err = c.print(reports)
	}
	if err == nil && withProblems > 0 {
		err = fmt.Errorf("problems in %d of %s", withProblems, termtext.Counted(len(reports), "rollout"))
	}
	return err
}

// eachRollout calls do for each path, and for all rollouts below each folder. It does not follow links to
// folders.
func (c *rolloutCall) eachRollout(do func(path string)) error {
	for _, root := range c.paths {
		if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) && isCompressed(root) {
			do(root)
			continue
		}
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			below := path != root
			switch {
			case err != nil && below:
				do(path) // a folder that cannot be listed
				return nil
			case err == nil && entry.IsDir(), below && filepath.Ext(rollout.PlainPath(path)) != ".jsonl":
				return nil
			case below && (!isRollout(path) || isHidden(path)):
				return nil
			}
			do(rollout.PlainPath(path))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isCompressed reports whether a path without a file is that of a compressed rollout.
func isCompressed(path string) bool {
	_, err := rollout.Stat(path)
	return err == nil
}

// isHidden reports whether a file is the compressed form of a rollout that has a plain form as well.
func isHidden(path string) bool {
	plain := rollout.PlainPath(path)
	if plain == path {
		return false
	}
	_, err := os.Lstat(plain)
	return err == nil
}

// isRollout reports whether a .jsonl file below a folder is a rollout. A home has other files of this
// type.
func isRollout(path string) bool {
	return !slices.Contains([]string{"session_index.jsonl", "history.jsonl", "memory.jsonl"}, filepath.Base(path))
}

func (c *rolloutCall) print(reports []rollout.Report) error {
	var out strings.Builder
	for _, s := range reports {
		printReport(&out, s)
	}
	_, err := io.WriteString(c.out, out.String())
	return err
}

func printReport(out *strings.Builder, s rollout.Report) {
	if len(s.Findings) == 0 {
		fmt.Fprintf(out, "%s: no problems, %s\n", termtext.Plain(s.Path), termtext.Counted(s.Lines, "line"))
		return
	}
	fmt.Fprintf(out, "%s: %s, %s\n", termtext.Plain(s.Path), termtext.Counted(len(s.Findings), "problem"),
		termtext.Counted(s.Lines, "readable line"))
	for _, f := range s.Findings {
		printFinding(out, f)
	}
}

func printFinding(out *strings.Builder, f rollout.Finding) {
	position := "the file"
	if f.Line > 0 {
		position = fmt.Sprintf("line %d", f.Line)
	}
	remedy := ""
	if f.Repairable {
		remedy = " (repair fixes this)"
	}
	fmt.Fprintf(out, "  %s: %s: %s%s\n", position, f.Kind, termtext.Plain(f.Message), remedy)
}

// repair repairs rollouts. If one repair fails, it prints the earlier ones and returns the error.
func (c *rolloutCall) repair() error {
	all := []rollout.Repaired{}
	var failed error
	for _, path := range c.paths {
		done, err := c.store(path).Repair(path)
		if err != nil {
			failed = err
			break
		}
		all = append(all, done)
	}
	err := c.printRepaired(all)
	if failed != nil {
		return failed
	}
	if n := unrepairable(all); err == nil && n > 0 {
		err = fmt.Errorf("%d of %s cannot be repaired: see above", n, termtext.Counted(countFindings(all), "problem"))
	}
	return err
}

// unrepairable counts the problems that remain.
func unrepairable(all []rollout.Repaired) (n int) {
	for _, r := range all {
		for _, f := range r.Findings {
			if !f.Repairable {
				n++
			}
		}
	}
	return n
}

func countFindings(all []rollout.Repaired) (n int) {
	for _, r := range all {
		n += len(r.Findings)
	}
	return n
}

func (c *rolloutCall) printRepaired(all []rollout.Repaired) error {
	if c.json {
		return writeJSON(c.out, map[string]any{"rollouts": all})
	}
	var out strings.Builder
	for _, r := range all {
		printReport(&out, r.Report)
		switch {
		case r.Kept != "":
			fmt.Fprintf(&out, "  repaired: %s; original: %s\n", termtext.Plain(r.To), termtext.Plain(r.Kept))
		case len(r.Findings) > 0:
			fmt.Fprintf(&out, "  nothing was changed\n")
		}
		if r.Lost != "" {
			fmt.Fprintf(&out, "  unreadable lines: %s\n", termtext.Plain(r.Lost))
		}
	}
	_, err := io.WriteString(c.out, out.String())
	return err
}
