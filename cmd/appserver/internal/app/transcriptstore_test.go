package app

import (
	"context"
	"crypto/rand"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	member "appserver/cmd/appserver/internal/fleet"
	"appserver/rollout/fleet"
	"appserver/rollout/postgres"
	"appserver/rollout/postgres/pgtest"
	"appserver/rollout/shared"
	"appserver/test/apptest"
)

// leaseOfTranscripts exceeds the times by which transcripts advance the clock.
const leaseOfTranscripts = 1000 * time.Hour

// outside runs functions in goroutines outside of a bubble, with the real clock. While a goroutine of the
// bubble waits for one, the clock of the bubble stands still, and synctest.Wait waits.
type outside struct{ idle chan *outsider }

// outsider is a goroutine outside of the bubble. Its channels are made there, too, because a channel of a bubble
// cannot be used outside.
type outsider struct {
	work chan func()
	done chan struct{}
}

// newOutside starts the goroutines, which the end of the test ends. Call it outside of the bubble.
func newOutside(t *testing.T) *outside {
	const goroutines = 16
	o := &outside{make(chan *outsider, goroutines)}
	for range goroutines {
		w := &outsider{make(chan func()), make(chan struct{})}
		go func() {
			for do := range w.work {
				do()
				w.done <- struct{}{}
			}
		}()
		t.Cleanup(func() { close(w.work) })
		o.idle <- w
	}
	return o
}

// run calls do and waits until it returns.
func (o *outside) run(do func()) {
	w := <-o.idle
	w.work <- do
	<-w.done
	o.idle <- w
}

// transcriptsWithFiles are the transcripts of parts that belong to files.
var transcriptsWithFiles = map[string]apptest.FilesReason{
	"context_refused": apptest.FilesBackup,
	"context_resumed": apptest.FilesBackup,
	"diagnostics":     apptest.FilesIndex,
	"index_off":       apptest.FilesIndex,
	"resume_history":  apptest.FilesPaths,
	"source_missing":  apptest.FilesLines,
	"story_sessions":  apptest.FilesBackup,
}

// transcriptStore is the database of a transcript. A nil store uses files.
type transcriptStore struct {
	*outside
	url string
	// wanted and got are the cursors of lists in the transcript and in the answers, up to the present step.
	wanted, got []string
}

// databaseOfTranscripts returns the URL of the database that all transcripts share, or "" for files.
func databaseOfTranscripts(t *testing.T) (url string) {
	if apptest.UsesDatabase() {
		url = apptest.DatabaseOf(t, t.TempDir())
	}
	return url
}

// newTranscriptStore removes the threads of the former transcript. It returns nil without a database.
func newTranscriptStore(t *testing.T, url, name string) *transcriptStore {
	if url == "" {
		return nil
	}
	if part := transcriptsWithFiles[name]; part != "" {
		apptest.NeedsFiles(t, part)
	}
	pgtest.Exec(t, url, "TRUNCATE node, thread, line, head, title, message, indexed")
	return &transcriptStore{outside: newOutside(t), url: url}
}

var (
	// pathOfThread matches the path in a thread.
	pathOfThread = regexp.MustCompile(`"path":"HOME/(archived_)?sessions/[^"]*"`)
	// cursorOfList matches a cursor in the response to a list or a search.
	cursorOfList = regexp.MustCompile(`"((?:next|backwards)Cursor)":"(eyJrIjoi[^"]*)"`)
)

// expected returns a transcript as it is with a database: threads have no path, and lists have other cursors.
func (s *transcriptStore) expected(transcript string) string {
	if s == nil {
		return transcript
	}
	return withoutCursors(pathOfThread.ReplaceAllString(transcript, `"path":null`))
}

func withoutCursors(text string) string { return cursorOfList.ReplaceAllString(text, `"$1":"CURSOR"`) }

// want notes the cursors of a line of the server in the transcript.
func (s *transcriptStore) want(line string) {
	if s != nil {
		s.wanted = append(s.wanted, cursorsIn(line)...)
	}
}

// receive notes the cursors of a line of the server, and returns the line without them.
func (s *transcriptStore) receive(line string) string {
	if s == nil {
		return line
	}
	s.got = append(s.got, cursorsIn(line)...)
	return withoutCursors(line)
}

// request returns a line of the client with the cursors of this database in place of those of the transcript.
func (s *transcriptStore) request(line string) string {
	if s != nil {
		for i := range min(len(s.wanted), len(s.got)) {
			line = strings.ReplaceAll(line, s.wanted[i], s.got[i])
		}
	}
	return line
}

func cursorsIn(line string) (cursors []string) {
	for _, m := range cursorOfList.FindAllStringSubmatch(line, -1) {
		cursors = append(cursors, m[2])
	}
	return cursors
}

// open opens the threads as openDatabase does. The calls of the driver leave the bubble.
func (s *transcriptStore) open(t *testing.T, b *localHome) *openedStore {
	ctx := context.Background()
	var db *postgres.DB
	var err error
	s.run(func() { db, err = postgres.Open(ctx, postgres.Options{URL: s.url, Lease: leaseOfTranscripts}) })
	require.NoError(t, err)
	threads, err := shared.Open(ctx, shared.Options{Driver: outsideDriver{s.outside, db}, Copies: copiesIn(b.home),
		Node:    fleet.Node{ID: "node", Incarnation: rand.Text()},
		Timeout: leaseOfTranscripts, SnapshotVersion: program(), Report: func(err error) { t.Error(err) }})
	require.NoError(t, err)
	return &openedStore{threads: threads, member: member.Of(memberOptions(b, false), threads, db)}
}
