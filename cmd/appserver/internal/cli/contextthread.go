package cli

import (
	"errors"
	"fmt"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
	"appserver/rollout"
)

// uuidLength is the length of a thread's id.
const uuidLength = 36

// threadForms lists the forms of THREAD for messages.
const threadForms = "give a thread id, its beginning or end, the path of its rollout, or --last"

// allSources returns the sources of all threads, including the ones that lists omit by default.
func allSources() *[]string {
	return &[]string{"cli", "vscode", "exec", "appServer", "subAgent", "unknown"}
}

// threadFinder finds threads by the words of a command line.
type threadFinder struct{ *app.LocalClient }

// findThread returns the id of the thread that a word names, or with last, of the thread that was written
// last.
func findThread(c *app.LocalClient, word string, last bool) (string, error) {
	return threadFinder{c}.find(word, last)
}

func (c threadFinder) find(word string, last bool) (string, error) {
	switch {
	case last:
		return c.last()
	case word == "":
		return "", app.UsageError{Err: errors.New("THREAD is empty: " + threadForms)}
	case strings.Contains(word, "/") || strings.HasSuffix(rollout.PlainPath(word), ".jsonl"):
		return c.findByPath(word)
	case len(word) == uuidLength:
		return c.checkID(strings.ToLower(word))
	}
	return c.findByPart(strings.ToLower(word))
}

// checkID returns the id, or an error if it has no thread.
func (c threadFinder) checkID(id string) (string, error) {
	_, err := app.Call[protocol.ThreadReadResponse](c.LocalClient, "thread/read", protocol.ThreadReadParams{ThreadID: id})
	if isKind(err, protocol.KindThreadNotLoaded) {
		return "", fmt.Errorf("there is no thread %s below %s: check the id, or set CODEX_HOME to the home of the thread", id,
			c.Home)
	}
	return id, err
}

func isKind(err error, kind protocol.Kind) bool {
	var e *protocol.Error
	return errors.As(err, &e) && e.Data != nil && e.Data.Kind == kind
}

// ownSources returns the sources of all threads that no agent started.
func ownSources() *[]string {
	return &[]string{"cli", "vscode", "exec", "appServer", "subAgentReview", "subAgentCompact", "subAgentOther", "unknown"}
}

// last returns the thread that was written last. It ignores archived threads and agents of other threads.
func (c threadFinder) last() (string, error) {
	one, updated := uint32(1), "updated_at"
	page, err := app.Call[protocol.ThreadListResponse](c.LocalClient, "thread/list",
		protocol.ThreadListParams{Limit: &one, SortKey: &updated, ModelProviders: &[]string{}, SourceKinds: ownSources()})
	if err != nil {
		return "", err
	}
	if len(page.Data) == 0 {
		return "", fmt.Errorf("there are no threads below %s: set CODEX_HOME to a home with threads", c.Home)
	}
	return page.Data[0].ID, nil
}

// findByPath returns the thread whose rollout is at a path.
func (c threadFinder) findByPath(path string) (string, error) {
	file, err := rollout.Stat(path)
	if err != nil {
		return "", err
	}
	id, err := c.checkID(rollout.ThreadID(path))
	if isKind(err, protocol.KindInvalidThreadID) {
		return "", fmt.Errorf("%s has no thread id in its name: expected rollout-TIME-ID.jsonl", path)
	}
	if err != nil {
		return "", err
	}
	read, err := app.Call[protocol.ThreadReadResponse](c.LocalClient, "thread/read",
		protocol.ThreadReadParams{ThreadID: id})
	if err != nil {
		return "", err
	}
	if own := read.Thread.Path; own != nil {
		if info, err := rollout.Stat(*own); err == nil && !rollout.SameFile(info, file) {
			return "", fmt.Errorf("%s is not the rollout of its thread below %s, which is %s: give that path, or set CODEX_HOME to the home of this rollout", path, c.Home, *own)
		}
	}
	return id, nil
}

// findByPart returns the only listed thread, archived or not, whose id begins or ends with part.
func (c threadFinder) findByPart(part string) (string, error) {
	var found []protocol.Thread
	for _, archived := range []bool{false, true} {
		err := c.eachThread(archived, func(t protocol.Thread) {
			if strings.HasPrefix(t.ID, part) || strings.HasSuffix(t.ID, part) {
				found = append(found, t)
			}
		})
		if err != nil {
			return "", err
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no thread below %s has an id that begins or ends with %q: check the id, or set CODEX_HOME to the home of the thread", c.Home, part)
	case 1:
		return found[0].ID, nil
	}
	return "", ambiguous(part, found)
}

func (c threadFinder) eachThread(archived bool, do func(protocol.Thread)) error {
	limit := uint32(100)
	p := protocol.ThreadListParams{Limit: &limit, Archived: &archived, ModelProviders: &[]string{},
		SourceKinds: allSources()}
	for {
		page, err := app.Call[protocol.ThreadListResponse](c.LocalClient, "thread/list", p)
		if err != nil {
			return err
		}
		for _, t := range page.Data {
			do(t)
		}
		if p.Cursor = page.NextCursor; p.Cursor == nil {
			return nil
		}
	}
}

// ambiguous returns an error that names some of the threads that a word matches.
func ambiguous(part string, found []protocol.Thread) error {
	const maxListed = 5
	var lines strings.Builder
	for i, t := range found {
		if i == maxListed {
			fmt.Fprintf(&lines, "\n  and %d more", len(found)-maxListed)
			break
		}
		fmt.Fprintf(&lines, "\n  %s  %s", t.ID, termtext.FirstColumns(termtext.Plain(t.Preview), 50))
	}
	return fmt.Errorf("the ids of %d threads begin or end with %q: give a longer part of the id%s", len(found), part,
		lines.String())
}
