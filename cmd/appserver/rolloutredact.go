package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"appserver/core/config"
	"appserver/rollout"
	"appserver/rollout/index"
)

// redact takes secrets out of rollouts. It looks at all of them before it changes one, and
// asks: no copy is kept.
func (c *rolloutCall) redact() error {
	conf, err := config.Load(config.Source{Home: c.home, Overrides: c.overrides, Provider: c.provider, Getenv: os.Getenv})
	if err != nil {
		return err
	}
	by := conf.Redactor()
	if by == nil {
		return errors.New("there is nothing to look for: history.redactSecrets is false, and history.sensitivePatterns has no pattern")
	}
	var found []rollout.Redacted
	for _, path := range c.paths {
		told, err := c.store(path).Redact(path, by, false)
		if err != nil {
			return err
		}
		found = append(found, told)
	}
	if question := redactQuestion(found); question != "" && !c.dryRun {
		if err := c.asker.confirm(question); err != nil {
			return err
		}
		for i, path := range c.paths {
			if found[i], err = c.redactOne(path, by, conf.Index); err != nil {
				return err
			}
		}
	}
	if c.json {
		return writeJSON(c.out, map[string]any{"rollouts": found})
	}
	return c.printRedacted(found)
}

// redactOne also takes the thread out of the index, which is to read it anew.
func (c *rolloutCall) redactOne(path string, by rollout.Redactor, conf config.Index) (rollout.Redacted, error) {
	store := c.store(path)
	done, err := store.Redact(path, by, true)
	if err != nil || !done.Found() {
		return done, err
	}
	full, err := filepath.Abs(path)
	if err == nil {
		err = index.Forget(indexPath(conf, c.homeOf(path)), store, []string{full})
	}
	if err != nil {
		err = fmt.Errorf("the rollout %s has no secrets any more, but what was found in it may still be searched: %w; remove the index while no server runs: it is built anew", path, err)
	}
	return done, err
}

// redactQuestion is what will happen, "" where nothing will.
func redactQuestion(found []rollout.Redacted) string {
	var out strings.Builder
	for _, f := range found {
		if !f.Found() {
			continue
		}
		fmt.Fprintf(&out, "%s: secrets are taken out of %s", plain(f.Path), counted(f.Lines, "line"))
		for _, other := range f.Copies {
			fmt.Fprintf(&out, ", %s of %s", counted(other.Lines, "line"), plain(other.Path))
		}
		if f.Names > 0 {
			fmt.Fprintf(&out, ", %s of the thread", counted(f.Names, "name"))
		}
		out.WriteByte('.')
		if f.Lines > 0 && f.Removed != "" {
			fmt.Fprintf(&out, " What is in its backup goes into it, and the backup is removed: %s.", plain(f.Removed))
		}
		out.WriteByte('\n')
	}
	if out.Len() == 0 {
		return ""
	}
	return out.String() + "No copy is kept: that cannot be taken back."
}

func (c *rolloutCall) printRedacted(found []rollout.Redacted) error {
	verb := "redacted"
	if c.dryRun {
		verb = "would be redacted"
	}
	var out strings.Builder
	for _, f := range found {
		fmt.Fprintf(&out, "%s: %s %s\n", plain(f.Path), counted(f.Lines, "line"), verb)
		for _, other := range f.Copies {
			fmt.Fprintf(&out, "  %s: %s %s\n", plain(other.Path), counted(other.Lines, "line"), verb)
		}
		if f.Names > 0 {
			fmt.Fprintf(&out, "  %s of the thread %s\n", counted(f.Names, "name"), verb)
		}
		for _, path := range f.Beside {
			fmt.Fprintf(&out, "  cannot be looked at: %s\n", plain(path))
		}
	}
	_, err := fmt.Fprint(c.out, out.String())
	return err
}
