package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/core/effects/config"
	"appserver/core/effects/memory"
	"appserver/rollout"
	"appserver/rollout/index"
)

// redactedThread has the numbers of texts with secrets in a thread.
type redactedThread struct {
	rollout.Redacted
	// Memories is the number of memories of the thread with secrets.
	Memories int `json:"memories"`
}

func (r redactedThread) found() bool { return r.Redacted.Found() || r.Memories > 0 }

// errNoPatterns reports that the configuration has nothing to search for.
var errNoPatterns = errors.New("there are no patterns to search for: " +
	"set history.redactSecrets to true, or add one to history.sensitivePatterns")

// redact removes secrets from rollouts. It searches all of them and asks for confirmation before it
// changes one, because it keeps no copy.
func (c *rolloutCall) redact() error {
	conf, err := c.config()
	if err != nil {
		return err
	}
	by := conf.Redactor()
	if by == nil {
		return errNoPatterns
	}
	var found []redactedThread
	for _, path := range c.paths {
		thread, err := c.redactOne(path, by, conf.Index, false)
		if err != nil {
			return err
		}
		found = append(found, thread)
	}
	if question := redactQuestion(found); question != "" && !c.dryRun {
		if err := c.asker.confirm(question); err != nil {
			return err
		}
		for i, path := range c.paths {
			if found[i], err = c.redactOne(path, by, conf.Index, true); err != nil {
				return err
			}
		}
	}
	if c.json {
		return writeJSON(c.out, map[string]any{"rollouts": found})
	}
	return c.printRedacted(found)
}

// redactOne redacts a rollout, and the index and the memories of its thread. Without write it only counts.
// The index reads the thread again afterwards.
func (c *rolloutCall) redactOne(path string, by rollout.Redactor, conf config.Index, write bool) (done redactedThread,
	err error) {
	store := c.store(path)
	if done.Redacted, err = store.Redact(path, by, write); err != nil {
		return done, err
	}
	if write && done.Redacted.Found() {
		err = c.unindex(path, store, conf)
	}
	if err == nil {
		done.Memories, err = c.redactMemories(path, by, write)
	}
	return done, err
}

func (c *rolloutCall) unindex(path string, store *rollout.Store, conf config.Index) error {
	full, err := filepath.Abs(path)
	if err == nil {
		err = index.Forget(app.IndexPath(conf, c.homeOf(path)), store, []string{full})
	}
	if err != nil {
		err = fmt.Errorf("the secrets were removed from the rollout %s, but not from the index: %w; delete the index while no server runs, and the next server builds a new one", path, err)
	}
	return err
}

func (c *rolloutCall) redactMemories(path string, by rollout.Redactor, write bool) (n int, err error) {
	store := memory.Open(memory.Options{Home: c.homeOf(path), Redact: by.Text,
		Warn: func(message string) { fmt.Fprintf(c.errs, "appserver: %s\n", message) }})
	defer func() { err = errors.Join(err, store.Close()) }()
	if n, err = store.Redact(context.Background(), rollout.ThreadID(path), write); err != nil {
		err = fmt.Errorf("the memories of the thread of %s: %w", path, err)
	}
	return n, err
}

// redactQuestion describes the changes, or returns "" if there are none.
func redactQuestion(found []redactedThread) string {
	var out strings.Builder
	for _, f := range found {
		if !f.found() {
			continue
		}
		fmt.Fprintf(&out, "%s: removes secrets from %s", termtext.Plain(f.Path), termtext.Counted(f.Lines, "line"))
		for _, other := range f.Copies {
			fmt.Fprintf(&out, ", %s of %s", termtext.Counted(other.Lines, "line"), termtext.Plain(other.Path))
		}
		if f.Names > 0 {
			fmt.Fprintf(&out, ", %s of the thread", termtext.Counted(f.Names, "name"))
		}
		if f.Memories > 0 {
			fmt.Fprintf(&out, ", %s of the thread", termtext.Counted(f.Memories, "remembered text"))
		}
		out.WriteByte('.')
		if f.Lines > 0 && f.Removed != "" {
			fmt.Fprintf(&out, " Moves the items of its backup into it, and removes the backup: %s.", termtext.Plain(f.Removed))
		}
		out.WriteByte('\n')
	}
	if out.Len() == 0 {
		return ""
	}
	return out.String() + "No copy is kept: this cannot be undone."
}

func (c *rolloutCall) printRedacted(found []redactedThread) error {
	verb := "redacted"
	if c.dryRun {
		verb = "would be redacted"
	}
	var out strings.Builder
	for _, f := range found {
		fmt.Fprintf(&out, "%s: %s %s\n", termtext.Plain(f.Path), termtext.Counted(f.Lines, "line"), verb)
		for _, other := range f.Copies {
			fmt.Fprintf(&out, "  %s: %s %s\n", termtext.Plain(other.Path), termtext.Counted(other.Lines, "line"), verb)
		}
		if f.Names > 0 {
			fmt.Fprintf(&out, "  %s of the thread %s\n", termtext.Counted(f.Names, "name"), verb)
		}
		if f.Memories > 0 {
			fmt.Fprintf(&out, "  %s of the thread %s\n", termtext.Counted(f.Memories, "remembered text"), verb)
		}
		for _, path := range f.Beside {
			fmt.Fprintf(&out, "  not redacted, because it cannot be read: %s\n", termtext.Plain(path))
		}
	}
	_, err := fmt.Fprint(c.out, out.String())
	return err
}
