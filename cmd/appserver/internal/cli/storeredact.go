package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/core/effects/memory"
	"appserver/rollout"
)

// storedSecrets has the numbers of texts with secrets in a thread of the database.
type storedSecrets struct {
	id                     string
	lines, names, memories int
}

// String lists the numbers that are not 0, or is empty.
func (s storedSecrets) String() string {
	var parts []string
	for _, part := range []struct {
		n    int
		name string
	}{{s.lines, "line"}, {s.names, "name"}, {s.memories, "remembered text"}} {
		if part.n > 0 {
			parts = append(parts, termtext.Counted(part.n, part.name))
		}
	}
	return strings.Join(parts, ", ")
}

// storeRedaction removes secrets from threads of the database.
type storeRedaction struct {
	*storeCall
	by       rollout.Redactor
	memories *memory.Store
	failed   int
}

// redact removes secrets from threads, or from all threads if none is named. It counts them and asks for
// confirmation before it changes one, because it keeps no copy.
func (c *storeCall) redact(ids []string) (err error) {
	conf, err := app.Config(c.Options)
	if err != nil {
		return err
	}
	by := conf.Redactor()
	if by == nil {
		return errNoPatterns
	}
	if len(ids) == 0 {
		add := func(h rollout.Head, _ bool) { ids = append(ids, h.ID) }
		if err = each(c.Database, nil, add); err != nil { // a database skips no thread
			return err
		}
	}
	home, err := app.CodexHome()
	if err != nil {
		return err
	}
	r := &storeRedaction{storeCall: c, by: by, memories: memory.Open(memory.Options{Home: home, Redact: by.Text,
		Warn: func(message string) { fmt.Fprintf(c.errs, "appserver: %s\n", message) }})}
	return errors.Join(r.run(ids), r.memories.Close())
}

func (r *storeRedaction) run(ids []string) error {
	found := r.all(ids, false)
	var question strings.Builder
	for _, s := range found {
		fmt.Fprintf(&question, "%s: removes secrets from %s.\n", s.id, s)
	}
	verb := "would be redacted"
	if len(found) > 0 && !r.dryRun {
		if err := r.asker.confirm(question.String() + "No copy is kept: this cannot be undone."); err != nil {
			return err
		}
		ids = ids[:0]
		for _, s := range found {
			ids = append(ids, s.id)
		}
		verb, found = "redacted", r.all(ids, true)
	}
	for _, s := range found {
		fmt.Fprintf(r.out, "%s: %s %s\n", s.id, s, verb)
	}
	fmt.Fprintf(r.out, "%s with secrets\n", termtext.Counted(len(found), "thread"))
	if r.failed > 0 {
		return errors.New("not all threads could be redacted: see above")
	}
	return nil
}

// all returns the threads with secrets. It reports the threads that fail, and continues.
func (r *storeRedaction) all(ids []string, write bool) (found []storedSecrets) {
	for _, id := range ids {
		s, err := r.one(id, write)
		if err != nil {
			r.failed++
			fmt.Fprintf(r.out, "not redacted: %s: %s\n", termtext.Plain(id), termtext.Plain(err.Error()))
			continue
		}
		if s.String() != "" {
			found = append(found, s)
		}
	}
	return found
}

// one redacts a thread, and its memories on this machine.
func (r *storeRedaction) one(id string, write bool) (s storedSecrets, err error) {
	done, err := r.Redact(id, r.by, write)
	s = storedSecrets{id: id, lines: done.Lines, names: done.Names}
	if err == nil {
		s.memories, err = r.memories.Redact(context.Background(), id, write)
	}
	return s, err
}
