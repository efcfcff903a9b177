package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"appserver/protocol"
	"appserver/rollout"
)

// mostWarnings bounds what a client is told at once of one file, or of one list.
const maxWarnings = 10

// warnOnce tells a client what nobody was told of before.
func (e *Engine) warnOnce(conn uint64, thread *string, messages []string) {
	fresh := e.unannounced(messages)
	for i, message := range fresh {
		if i == maxWarnings {
			message = fmt.Sprintf("there are %d more warnings of this kind: run appserver rollout verify on the folder", len(fresh)-i)
		}
		e.parts.Outbox.Notify(conn, protocol.WarningNotification{ThreadID: thread, Message: message})
		if i == maxWarnings {
			return
		}
	}
}

// warnSkipped tells of files that are not in a list, and of those that the index has come
// across.
func (e *Engine) warnSkipped(conn uint64, skipped []error) {
	if e.parts.Index != nil {
		skipped = append(skipped, e.parts.Index.Skipped()...)
	}
	messages := make([]string, 0, len(skipped))
	for _, err := range skipped {
		messages = append(messages, "not listed: "+err.Error())
	}
	e.warnOnce(conn, nil, messages)
}

// IndexSkipped tells the newest of those who list or search what the index has come across.
func (e *Engine) IndexSkipped() {
	e.mu.Lock()
	conns := slices.Sorted(maps.Keys(e.watchers))
	e.mu.Unlock()
	if len(conns) > 0 {
		e.warnSkipped(conns[len(conns)-1], nil)
	}
}

// unannounced are messages that are asked about for the first time.
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

// warnings are what who resumes a thread is told of its rollout.
func warnings(c *rollout.Contents) (list []string) {
	if c.Backup.Err != nil {
		list = append(list, c.Backup.Err.Error())
	}
	return append(list, rolloutProblems(c)...)
}

// rolloutProblems are what is wrong with the rollout itself.
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

// fileProblems are what is wrong with a rollout beside lines that cannot be read.
func fileProblems(c *rollout.Contents) (list []string) {
	if c.Size == 0 {
		return []string{c.Path + ": the file is empty: nothing of the thread is left in it"}
	}
	if c.Restored {
		list = append(list, c.Path+": the file was empty, and was restored from its backup: what came after the backup is lost")
	}
	switch meta := metaOf(c); {
	case meta == nil:
		list = append(list, c.Path+": session_meta, which tells what the thread is, is lost; the name and the turns tell some of it")
	case meta.ID != "" && c.ThreadID != "" && !strings.EqualFold(meta.ID, c.ThreadID):
		list = append(list, fmt.Sprintf("%s: session_meta is that of thread %s; the name of the file counts", c.Path, meta.ID))
	}
	if n := c.Disordered; n > 0 {
		list = append(list, fmt.Sprintf("%s: the ordinals of %d lines are not higher than those before them; lines count in the order in which they stand, and ids of items may be double", c.Path, n))
	}
	return list
}

// metaOf is the first session_meta, nil where there is none.
func metaOf(c *rollout.Contents) *protocol.SessionMeta {
	if c.Meta == nil {
		return nil
	}
	var meta protocol.SessionMeta
	_ = protocol.Unmarshal(c.Meta, &meta) // a member of the wrong type costs that member
	return &meta
}
