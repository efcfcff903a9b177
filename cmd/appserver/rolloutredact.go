package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"appserver/core/config"
	"appserver/rollout"
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
	lines, question := redactQuestion(found)
	if lines > 0 && !c.dryRun {
		if err := c.asker.confirm(question); err != nil {
			return err
		}
		for i, path := range c.paths {
			if found[i], err = c.store(path).Redact(path, by, true); err != nil {
				return err
			}
		}
	}
	if c.json {
		return writeJSON(c.out, map[string]any{"rollouts": found})
	}
	return c.printRedacted(found)
}

// redactQuestion is what will happen, and to how many lines.
func redactQuestion(found []rollout.Redacted) (lines int, question string) {
	var out strings.Builder
	for _, f := range found {
		if f.Lines == 0 {
			continue
		}
		lines += f.Lines
		fmt.Fprintf(&out, "%s: secrets are taken out of %s.", plain(f.Path), counted(f.Lines, "line"))
		if f.Removed != "" {
			fmt.Fprintf(&out, " What is in its backup goes into it, and the backup is removed: %s.", plain(f.Removed))
		}
		out.WriteByte('\n')
	}
	return lines, out.String() + "No copy is kept: that cannot be taken back."
}

func (c *rolloutCall) printRedacted(found []rollout.Redacted) error {
	verb := "redacted"
	if c.dryRun {
		verb = "would be redacted"
	}
	var out strings.Builder
	for _, f := range found {
		fmt.Fprintf(&out, "%s: %s %s\n", plain(f.Path), counted(f.Lines, "line"), verb)
		for _, path := range f.Beside {
			fmt.Fprintf(&out, "  not looked at: %s\n", plain(path))
		}
	}
	_, err := fmt.Fprint(c.out, out.String())
	return err
}
