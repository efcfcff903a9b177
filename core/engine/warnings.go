package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"appserver/protocol"
	"appserver/rollout"
)

// maxWarnings limits the warnings about one file or one list.
const maxWarnings = 10

// warnOnce sends the warnings that no client has got yet.
func (e *Engine) warnOnce(conn uint64, thread *string, messages []string) {
	fresh := e.unannounced(messages)
	for i, message := range fresh {
		if i == maxWarnings {
			message = fmt.Sprintf("there are %d more warnings of this kind: run appserver rollout verify on the folder",
				len(fresh)-i)
		}
		e.parts.Outbox.Notify(conn, protocol.WarningNotification{ThreadID: thread, Message: message})
		if i == maxWarnings {
			return
		}
	}
}

// warnSkipped warns of unreadable files, which are not listed.
func (e *Engine) warnSkipped(conn uint64, skipped []error) {
	messages := make([]string, 0, len(skipped))
	for _, err := range skipped {
		messages = append(messages, "not listed: "+err.Error())
	}
	e.warnOnce(conn, nil, messages)
}

// IndexSkipped warns the newest client that lists or searches of files that the index skipped.
func (e *Engine) IndexSkipped(skipped []error) {
	e.mu.Lock()
	conns := slices.Sorted(maps.Keys(e.watchers))
	e.mu.Unlock()
	if len(conns) > 0 {
		e.warnSkipped(conns[len(conns)-1], skipped)
	}
}

// warnWithheld warns each client of the thread once of the variables that commands do not get.
func (a *actor) warnWithheld(names []string) {
	if len(names) == 0 {
		return
	}
	message := "Commands do not get these environment variables, because their names or values look like secrets: " +
		strings.Join(names, ", ") + ". To pass some on, add their names to shell_environment_policy.keep in config.toml."
	for _, conn := range a.subscribers {
		if len(a.engine.unannounced([]string{fmt.Sprint(conn, " ", message)})) > 0 {
			a.engine.parts.Outbox.Notify(conn, protocol.WarningNotification{ThreadID: &a.id, Message: message})
		}
	}
}

// unannounced returns the messages that were not sent before, and marks them as sent.
func (e *Engine) unannounced(messages []string) (fresh []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range messages {
		if !e.announced[m] {
			e.announced[m] = true
			fresh = append(fresh, m)
		}
	}
	return fresh
}

// resumeWarnings returns the problems in the rollout, for a resuming client.
func resumeWarnings(c *rollout.Contents) (list []string) {
	if c.Backup.Err != nil {
		list = append(list, c.Backup.Err.Error())
	}
	return append(list, rolloutProblems(c)...)
}

// rolloutProblems returns the problems of the rollout without its backup.
func rolloutProblems(c *rollout.Contents) []string {
	list := fileProblems(c)
	for i, d := range c.Damage {
		if i == maxWarnings {
			return append(list, damageCount(c.Path, len(c.Damage)-maxWarnings))
		}
		list = append(list, damageText(c.Path, d))
	}
	return list
}

func damageText(path string, d rollout.Damage) string {
	if d.Path != "" {
		path = d.Path
	}
	return fmt.Sprintf("%s: line %d cannot be read (%s); it stays in the file and is passed over", path, d.Line, d.Reason)
}

func damageCount(path string, n int) string {
	return fmt.Sprintf("%s: %d more lines cannot be read", path, n)
}

// fileProblems returns the problems of a rollout except unreadable lines.
func fileProblems(c *rollout.Contents) (list []string) {
	if c.Size == 0 {
		return []string{c.Path + ": the file is empty: nothing of the thread is left in it"}
	}
	if c.Restored {
		list = append(list, c.Path+
			": the file was empty, and was restored from its backup: what came after the backup is lost")
	}
	switch meta := metaOf(c); {
	case meta == nil:
		list = append(list, c.Path+
			": session_meta is lost; what is known of the thread comes from the name of the file and from its turns")
	case meta.ID != "" && c.ThreadID != "" && !strings.EqualFold(meta.ID, c.ThreadID):
		list = append(list, fmt.Sprintf("%s: session_meta is that of thread %s; the name of the file counts", c.Path,
			meta.ID))
	}
	if n := c.Disordered; n > 0 {
		list = append(list, fmt.Sprintf("%s: the ordinals of %d lines are not higher than those before them; they are read in the order of the file, and ids of items may repeat", c.Path, n))
	}
	return list
}

// metaOf returns the first session_meta, or nil.
func metaOf(c *rollout.Contents) *protocol.SessionMeta {
	if c.Meta == nil {
		return nil
	}
	var meta protocol.SessionMeta
	_ = protocol.Unmarshal(c.Meta, &meta) // a member of the wrong type is ignored
	return &meta
}
