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

// retain lists the threads of the home that exceed the limits of the configuration. With --yes, it
// archives or deletes them.
func (c *rolloutCall) retain() error {
	conf, err := c.config()
	if err != nil {
		return err
	}
	if conf.Store.Kind == config.StorePostgres {
		return errors.New("the threads are in a database (store.kind), not in files: its servers apply history.maxAge and history.maxBytes")
	}
	bounds := app.RetentionOf(conf.History)
	if !bounds.IsLimited() {
		return errors.New("there is no limit: set history.maxAge (days) or history.maxBytes, for example with -c history.maxAge=90")
	}
	store := rollout.NewStore(rollout.OS(), c.home)
	var do func(rollout.Candidate) error
	if c.yes && !c.dryRun {
		do = store.Retire
	}
	done := store.Retain(context.Background(), bounds, time.Now(), do)
	if c.json {
		err = writeJSON(c.out, retainedThreads{conf.History.Retention, do == nil, done})
	} else {
		_, err = io.WriteString(c.out, retainedText(bounds, done, do == nil))
	}
	if n := len(done.Kept); err == nil && n > 0 && do != nil {
		err = fmt.Errorf("kept %s beyond the limits: see above", termtext.Counted(n, "thread"))
	}
	return err
}

// retainedThreads is the JSON form of the result.
type retainedThreads struct {
	Action string `json:"action"`
	DryRun bool   `json:"dryRun"`
	rollout.RetentionResult
}

func retainedText(bounds rollout.Retention, done rollout.RetentionResult, dry bool) string {
	verb, would := "archived", ""
	if bounds.Delete {
		verb = "deleted"
	}
	if dry {
		would = "would be "
	}
	var out strings.Builder
	for _, t := range done.Gone {
		fmt.Fprintf(&out, "%s%s: %s\n", would, verb, candidateText(t))
	}
	for _, t := range done.Kept {
		fmt.Fprintf(&out, "kept: %s: %s\n", candidateText(t), termtext.Plain(t.Kept))
	}
	for _, text := range done.Unread {
		fmt.Fprintf(&out, "kept: %s\n", termtext.Plain(text))
	}
	fmt.Fprintf(&out, "%s %s%s; remaining: %s with %s bytes, of which %s are in the archive\n",
		termtext.Counted(len(done.Gone), "thread"), would, verb, termtext.Counted(done.Threads, "thread"),
		termtext.Grouped(done.Bytes), termtext.Grouped(done.ArchivedBytes))
	switch {
	case done.Over > 0 && !bounds.Delete:
		fmt.Fprintf(&out, "The remaining threads exceed history.maxBytes by %s bytes: nothing is deleted while history.retention is \"archive\"\n", termtext.Grouped(done.Over))
	case done.Over > 0:
		fmt.Fprintf(&out, "The remaining threads exceed history.maxBytes by %s bytes\n", termtext.Grouped(done.Over))
	}
	if dry && len(done.Gone) > 0 {
		out.WriteString("Nothing was changed: add --yes to make these changes\n")
	}
	return out.String()
}

// candidateText describes a thread in one line.
func candidateText(t rollout.Candidate) string {
	return fmt.Sprintf("%s, last written %s, %s bytes, for %s", termtext.Plain(t.Path),
		t.WrittenAt.Local().Format("2006-01-02 15:04"), termtext.Grouped(t.Bytes), t.Limit)
}
