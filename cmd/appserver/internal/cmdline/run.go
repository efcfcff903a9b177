package cmdline

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Run finds the command of a command line and runs it. Help that is requested is written to Out.
func (p *Program) Run(args []string) error { return p.run(path{&p.Root}, args) }

// run runs a command, or the nested one that the arguments name.
func (p *Program) run(at path, args []string) error {
	c := at.last()
	flags, run := c.define()
	if c.Prepare != nil {
		args = c.Prepare(args)
	}
	if len(c.Commands) == 0 {
		rest, err := parse(flags, args)
		return p.finish(at, flags, run, rest, err)
	}
	if err := flags.Parse(args); err != nil || flags.NArg() == 0 {
		return p.finish(at, flags, run, nil, err)
	}
	if instead, ok := p.Version(); ok {
		return instead(nil)
	}
	index := len(args) - flags.NArg()
	name, before, after := args[index], args[:index], args[index+1:]
	nested := c.nested(name)
	switch {
	case nested == nil && name == "help":
		return p.helpFor(at, after)
	case nested == nil && (run == nil || len(at) == 1):
		return at.usage(fmt.Errorf("unknown command %q%s", at.with(&Command{Name: name}).short(), p.meant(at, name)))
	case nested == nil:
		return at.usage(fmt.Errorf("unexpected argument %q%s", name, suggestion(name, c.names())))
	case run != nil: // the flags before the name are the command's own
		before = nil
	}
	return p.run(at.with(nested), slices.Concat(before, after))
}

// finish runs a command whose flags were parsed with a result.
func (p *Program) finish(at path, flags *flag.FlagSet, run Run, args []string, err error) error {
	switch {
	case errors.Is(err, flag.ErrHelp), err == nil && run == nil:
		return p.Help(at, p.Out)
	case err != nil:
		return at.usage(flagError(at, flags, err))
	}
	if instead, ok := p.Version(); ok {
		run = instead
	}
	if limit := argumentLimit(at.last().Args); limit >= 0 && len(args) > limit {
		return at.usage(fmt.Errorf("unexpected argument %q", args[limit]))
	}
	err = run(args)
	if usage := (UsageError{}); errors.As(err, &usage) {
		return wrongUsage{err, at.String()}
	}
	return err
}

// argumentLimit returns the largest number of arguments, or -1 if there is none.
func argumentLimit(args string) int {
	if strings.Contains(args, "...") {
		return -1
	}
	return len(strings.Fields(args))
}

// parse parses flags before, between and after arguments. Arguments after "--" are no flags.
func parse(flags *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		left := flags.Args()
		ended := len(left) < len(args) && args[len(args)-len(left)-1] == "--"
		if len(left) == 0 || ended {
			return append(rest, left...), nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

// flagError explains an error of package flag: another command may have the flag, or the name of one may be near.
func flagError(at path, flags *flag.FlagSet, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return err
	}
	if len(at) > 2 {
		if siblings, _ := at[len(at)-2].define(); siblings.Lookup(name) != nil {
			return fmt.Errorf("%s has no flag %s", at.short(), spelled(name))
		}
	}
	var names []string
	flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if near := nearest(name, names); near != "" {
		return fmt.Errorf("%w: did you mean %s?", err, spelled(near))
	}
	return err
}

// spelled returns a flag as people write it.
func spelled(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// usage returns a usage error of a command.
func (p path) usage(err error) error { return wrongUsage{UsageError{err}, p.String()} }

// wrongUsage is a UsageError of a command, whose help describes the right usage.
type wrongUsage struct {
	error
	command string
}

// Unwrap returns the UsageError.
func (e wrongUsage) Unwrap() error { return e.error }

// Report writes an error of Run, and returns the exit status of the program.
func (p *Program) Report(err error, to io.Writer) int {
	var usage UsageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		at := wrongUsage{command: p.Root.Name}
		errors.As(err, &at)
		fmt.Fprintf(to, "%s: %v\nRun %s --help for usage.\n", p.Root.Name, err, at.command)
		return 2
	}
	fmt.Fprintf(to, "%s: %v\n", p.Root.Name, err)
	return 1
}
