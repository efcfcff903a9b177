package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/core/effects/config"
	"appserver/rollout"
)

func days(d time.Duration) int { return int(d / (24 * time.Hour)) }

// compress compresses the named rollouts, or the old ones of the home. Threads that are open stay as they are.
func (c *rolloutCall) compress() error {
	if c.olderThan < 0 {
		return app.UsageError{Err: errors.New("--older-than is negative: give a number of days")}
	}
	done, err := c.compressed()
	if err != nil {
		return err
	}
	if c.json {
		err = writeJSON(c.out, compressedThreads{c.dryRun, done})
	} else {
		_, err = io.WriteString(c.out, compressedText(done, c.dryRun))
	}
	if n := len(done.Kept); err == nil && n > 0 {
		err = fmt.Errorf("%s not compressed: see above", termtext.Counted(n, "thread"))
	}
	return err
}

func (c *rolloutCall) compressed() (done rollout.Compression, err error) {
	if len(c.paths) > 0 {
		return c.compressNamed()
	}
	if conf, err := c.config(); err == nil && conf.Store.Kind == config.StorePostgres {
		return done, errors.New("the threads are in a database (store.kind), which compresses them itself")
	}
	store := rollout.NewStore(rollout.OS(), c.home)
	query := rollout.CompressQuery{Before: time.Now().Add(-time.Duration(c.olderThan) * 24 * time.Hour)}
	return store.Compress(context.Background(), query, c.compressor(store)), nil
}

// compressor returns the function that compresses a thread, or nil.
func (c *rolloutCall) compressor(s *rollout.Store) func(rollout.Compressible) (rollout.CompressedThread, error) {
	if c.dryRun {
		return nil
	}
	return s.CompressThread
}

// compressNamed compresses rollouts of any age.
func (c *rolloutCall) compressNamed() (rollout.Compression, error) {
	done := rollout.NewCompression()
	for _, path := range c.paths {
		path = rollout.PlainPath(path)
		store := c.store(path)
		plain, err := store.CanCompress(path, time.Time{})
		switch {
		case err != nil:
			return done, err
		case rollout.ThreadID(path) == "":
			return done, &rollout.NameError{Name: path}
		case !plain:
			continue
		}
		done.Add(rollout.Compressible{ID: rollout.ThreadID(path), Paths: []string{path}}, c.compressor(store))
	}
	return done, nil
}

// compressedThreads is the JSON form of the result.
type compressedThreads struct {
	DryRun bool `json:"dryRun"`
	rollout.Compression
}

func compressedText(done rollout.Compression, dry bool) string {
	var out strings.Builder
	would := ""
	if dry {
		would = "would be "
	}
	for _, t := range done.Compressed {
		for _, path := range t.Paths {
			fmt.Fprintf(&out, "%scompressed: %s\n", would, termtext.Plain(path))
		}
	}
	for _, t := range done.Kept {
		fmt.Fprintf(&out, "kept: thread %s: %s\n", t.ID, termtext.Plain(t.Reason))
	}
	for _, text := range done.Unread {
		fmt.Fprintf(&out, "kept: %s\n", termtext.Plain(text))
	}
	fmt.Fprintf(&out, "%s %scompressed", termtext.Counted(len(done.Compressed), "thread"), would)
	if !dry && done.Before > 0 {
		fmt.Fprintf(&out, ": %s bytes became %s, which saves %s", termtext.Grouped(done.Before),
			termtext.Grouped(done.After), termtext.Grouped(done.Before-done.After))
	}
	out.WriteString("\n")
	return out.String()
}
